import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { makeFleetClient } from '../../../app/fleet-client/client.ts';
import { type PatchSource, uploadPatch } from '../../../app/fleet-client/upload.ts';
import { freePort } from '../../support/redis.ts';

const token = `lkw_00000000_${'s'.repeat(43)}`;
const never = new AbortController().signal;
let close = async (): Promise<void> => {};
afterEach(() => close());

type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** A real server that answers as the test says. */
async function against(answer: Answer) {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    answer(request, response, Buffer.concat(pieces));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return makeFleetClient({ appUrl: `http://127.0.0.1:${port}`, token });
}

const say = (status: number, body: unknown): Answer => {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
};

test("the App's refusal keeps its code and its words", async () => {
  const message = 'The evidence could not be verified by the host. (AC-1)';
  const client = await against(say(422, { error: { code: 'proof_unverified', message, retryable: false } }));
  await expect(client.handBack('l', 'x')).rejects.toMatchObject({ code: 'proof_unverified', message });
});

test('nobody there, a broken proxy, and something else than the App are told apart', async () => {
  const nobody = makeFleetClient({ appUrl: `http://127.0.0.1:${await freePort()}`, token });
  await expect(nobody.pending()).rejects.toMatchObject({ code: 'app_unreachable', retryable: true });
  const proxy = await against((_request, response) => void response.writeHead(502).end('<html>'));
  await expect(proxy.pending()).rejects.toMatchObject({ code: 'app_unreachable' });
  await close();
  const other = await against((_request, response) => void response.writeHead(404).end('<html>'));
  await expect(other.pending()).rejects.toMatchObject({ code: 'invalid_config' });
  await close();
  const strange = await against(say(200, { pending: 'many' }));
  await expect(strange.pending()).rejects.toMatchObject({ code: 'invalid_config' });
});

test('the token is sent, follows no redirect, and stands in no error', async () => {
  const seen: (string | undefined)[] = [];
  const client = await against((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  const error: unknown = await client.pending().catch((caught: unknown) => caught);
  expect(seen).toEqual([`Bearer ${token}`]);
  const words = JSON.stringify([
    String(error),
    error,
    error instanceof Error ? [error.stack, error.cause] : null,
  ]);
  expect(words).not.toContain('sssss');
});

/** The App's side of an upload, in memory. `spoil` damages the first piece that comes. */
function patchServer(wanted: number, spoil = false) {
  let held = Buffer.alloc(0);
  let complete = false;
  let damage = spoil;
  const pieces: number[] = [];
  const answer: Answer = (request, response, body) => {
    const json = { 'content-type': 'application/json' };
    if (request.method === 'HEAD') {
      const state = {
        'upload-offset': String(held.length),
        ...(complete ? { 'upload-complete': '?1' } : {}),
      };
      return void response.writeHead(200, state).end();
    }
    pieces.push(body.length);
    if (damage) body[0] = (body[0] ?? 0) ^ 1;
    damage = false;
    held = Buffer.concat([held, body]);
    const hash = createHash('sha256').update(held).digest('hex');
    if (held.length === wanted && hash !== request.headers['upload-sha256']) {
      held = Buffer.alloc(0);
      const error = { code: 'invalid_result', message: 'its hash is another', retryable: false };
      return void response.writeHead(422, json).end(JSON.stringify({ error }));
    }
    complete = held.length === wanted;
    response.writeHead(200, json).end(JSON.stringify({ complete, offset: held.length }));
  };
  return { answer, pieces, held: () => held };
}

function patchOf(bytes: Buffer): PatchSource {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return {
    bytes: bytes.length,
    sha256,
    read: async (offset, length) => Uint8Array.from(bytes.subarray(offset, offset + length)),
  };
}

test('a patch goes up in pieces; one that was damaged on its way is sent anew', async () => {
  const bytes = randomBytes(9 * 1024 ** 2);
  const server = patchServer(bytes.length, true);
  const client = await against(server.answer);
  await uploadPatch(client, 'lease', patchOf(bytes), never);
  expect(server.held().equals(bytes)).toBe(true);
  const mb = 1024 ** 2;
  expect(server.pieces).toEqual([4 * mb, 4 * mb, mb, 4 * mb, 4 * mb, mb]);
});

test('a patch whose hash never fits is given up', async () => {
  const bytes = randomBytes(1_000);
  const client = await against(patchServer(bytes.length).answer);
  const patch = { ...patchOf(bytes), sha256: '0'.repeat(64) };
  await expect(uploadPatch(client, 'lease', patch, never)).rejects.toMatchObject({ code: 'invalid_result' });
});

test('a lease that is lost ends an upload', async () => {
  const client = await against(say(409, { error: { code: 'lease_lost', message: 'm', retryable: false } }));
  const patch = patchOf(randomBytes(10));
  await expect(uploadPatch(client, 'lease', patch, never)).rejects.toMatchObject({ code: 'lease_lost' });
});
