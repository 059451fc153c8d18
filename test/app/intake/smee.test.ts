import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhooks } from '@octokit/webhooks';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDoor, webhookPath } from '../../../app/intake/door.ts';
import { listenToSmee } from '../../../app/intake/smee.ts';
import type { Delivery } from '../../../lanes/records/issues.ts';

const secret = 'a secret that nobody knows';
const log = { info: () => {}, warn: () => {} };
let servers: Server[];

beforeEach(() => {
  servers = [];
});
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(server: Server, port = 0): Promise<number> {
  servers.push(server);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A door, and a promise of the first delivery that it records. */
async function openDoor(): Promise<{ target: string; first: Promise<Delivery> }> {
  let told: (delivery: Delivery) => void = () => {};
  const first = new Promise<Delivery>((resolve) => {
    told = resolve;
  });
  const recordDelivery = async (delivery: Delivery) => {
    told(delivery);
    return 'recorded' as const;
  };
  const door = createDoor({ secret, recordDelivery, isReady: async () => true, now: () => 1, log });
  return { target: `http://127.0.0.1:${await listen(door)}${webhookPath}`, first };
}

/** What smee.io sends to a listener: one message, the webhook's headers beside its body. */
async function message(body: unknown): Promise<string> {
  const headers = {
    host: 'smee.io',
    'content-type': 'application/json',
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'x-github-event': 'issues',
    'x-hub-signature-256': await new Webhooks({ secret }).sign(JSON.stringify(body)),
  };
  return `data: ${JSON.stringify({ ...headers, body, query: {}, timestamp: 1 })}\n\n`;
}

function channelOf(answer: (response: ServerResponse) => void): Server {
  return createServer((_request, response) => answer(response));
}

it('a webhook that comes through the channel is recorded, with its signature', async () => {
  const { target, first } = await openDoor();
  const body = { action: 'labeled', title: '日本語' };
  const text = await message(body);
  const port = await listen(
    channelOf((response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text)),
  );
  const smee = listenToSmee({ channel: `http://127.0.0.1:${port}/abc`, target, log });
  expect((await first).payload).toBe(JSON.stringify(body));
  await smee.close();
});

it('a channel that cannot be reached is told, and ends nothing', async () => {
  const { target } = await openDoor();
  const silent = channelOf(() => {});
  const port = await listen(silent);
  await new Promise((resolve) => silent.close(resolve));
  servers.pop();
  let closeSmee = async () => {};
  const told = new Promise<string>((resolve) => {
    const warn = (_fields: unknown, text?: string) => resolve(text ?? '');
    const smee = listenToSmee({
      channel: `http://127.0.0.1:${port}/abc`,
      target,
      log: { info: () => {}, warn },
    });
    closeSmee = () => smee.close();
  });
  expect(await told).toMatch(/webhook channel: Error in connection/);
  await closeSmee();
});
