import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { criterionSchema } from '../../../../lanes/records/criteria.ts';
import { makeMinter } from '../../../../lanes/rules/intake/minting.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const known = (id: string) => ({
  id,
  revision: 1,
  text: '',
  checked: false,
  checkbox: true,
  depth: 0,
  removed: true,
});

test('ids are short, valid, and never given twice on an issue', () => {
  const minter = makeMinter('7#1', 0, [], hash);
  const ids = Array.from({ length: 5_000 }, () => minter.mint());
  expect(new Set(ids).size).toBe(5_000);
  for (const id of ids) expect(criterionSchema.shape.id.safeParse(id).success).toBe(true);
  expect(Math.max(...ids.map((id) => id.length))).toBe(4);
});

test('an id that a removed criterion had is not given again', () => {
  const first = makeMinter('7#1', 0, [], hash).mint();
  expect(makeMinter('7#1', 0, [known(first)], hash).mint()).not.toBe(first);
});

test('minting goes on where it stopped', () => {
  const all = makeMinter('7#1', 0, [], hash);
  const [one, two] = [all.mint(), all.mint()];
  const later = makeMinter('7#1', 1, [known(one)], hash);
  expect(later.mint()).toBe(two);
  expect(later.minted()).toBe(2);
});
