/** Hands a delivery over once more, as GitHub's redelivery would: the same GUID, the same signature. */
import { expect } from 'vitest';
import type { Delivery } from '../fakes/github/hooks.ts';

export async function deliver({ headers, payload }: Delivery, door: string): Promise<void> {
  const answer = await fetch(door, { method: 'POST', headers, body: payload });
  expect(answer.status).toBe(202);
}
