import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Webhooks } from '@octokit/webhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { maxBodyBytes } from '../../../app/intake/body.ts';
import { createDoor, webhookPath } from '../../../app/intake/door.ts';
import type { Delivery } from '../../../lanes/records/issues.ts';

const secret = 'a secret that nobody knows';
const sign = (key: string, body: string) => new Webhooks({ secret: key }).sign(body);
let door: Server;
let recorded: Delivery[];
let record: (delivery: Delivery) => Promise<'recorded' | 'duplicate'>;
let ready: () => Promise<boolean>;
let port: number;

beforeEach(async () => {
  recorded = [];
  record = async (delivery) => {
    recorded.push(delivery);
    return 'recorded';
  };
  ready = async () => true;
  door = createDoor({
    secret,
    recordDelivery: (delivery) => record(delivery),
    isReady: () => ready(),
    now: () => 1_234,
    log: { warn: () => {} },
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  port = (door.address() as AddressInfo).port;
});
afterEach(async () => {
  door.closeAllConnections();
  await new Promise((resolve) => door.close(resolve));
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

const guid = '72d3162e-cc78-11e3-81ab-4c9367dc0958';

async function post(
  body: string | Buffer,
  headers: Record<string, string> = {},
  path = webhookPath,
): Promise<Answer> {
  const all = {
    'content-type': 'application/json',
    'x-github-delivery': guid,
    'x-github-event': 'issues',
    'x-hub-signature-256': typeof body === 'string' && body !== '' ? await sign(secret, body) : 'sha256=0',
    ...headers,
  };
  return ask('POST', path, body, Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')));
}

function ask(method: string, path: string, body: string | Buffer = '', headers = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    sent.on('error', reject).end(body);
  });
}

describe('a webhook', () => {
  it('is recorded as it came, and then answered 202', async () => {
    const body = '{"action":"labeled", "title":"日本語 \u{1f600}"}';
    expect(await post(body)).toMatchObject({ status: 202, body: '{"status":"recorded"}' });
    expect(recorded).toEqual([{ guid, event: 'issues', payload: body, receivedAtMs: 1_234 }]);
  });

  it('that came before is answered 202 too', async () => {
    record = async () => 'duplicate';
    expect(await post('{}')).toMatchObject({ status: 202, body: '{"status":"duplicate"}' });
  });

  it('is not answered before it is recorded', async () => {
    const gate = deferred<'recorded'>();
    record = () => gate.promise;
    let answered = false;
    const answer = post('{}').then((value) => {
      answered = true;
      return value;
    });
    await ask('GET', '/healthz');
    expect(answered).toBe(false);
    gate.resolve('recorded');
    expect((await answer).status).toBe(202);
  });

  it('with a byte order mark keeps it, since it was signed', async () => {
    expect((await post('\ufeff{}')).status).toBe(202);
    expect(recorded[0]?.payload).toBe('\ufeff{}');
  });

  it.each([
    ['without a signature', { 'x-hub-signature-256': '' }, 401],
    ['with a signature of another body', { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }, 401],
    ['with a signature of another length', { 'x-hub-signature-256': 'sha256=00' }, 401],
    ['signed with sha1 only', { 'x-hub-signature-256': '', 'x-hub-signature': 'sha1=00' }, 401],
    ['without a GUID', { 'x-github-delivery': '' }, 400],
    ['with a GUID that is none', { 'x-github-delivery': 'lanes:{broker:intake}:x' }, 400],
    ['without an event', { 'x-github-event': '' }, 400],
    ['with an event that is no name', { 'x-github-event': 'a b' }, 400],
    ['as a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['without a content type', { 'content-type': '' }, 415],
    ['with a content type that only begins like JSON', { 'content-type': 'application/jsonp' }, 415],
  ])('%s is refused', async (_what, headers, status) => {
    const answer = await post('{"a":1}', headers);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body).error.retryable).toBe(false);
    expect(recorded).toEqual([]);
  });

  it('signed with "development" is refused', async () => {
    expect((await post('{}', { 'x-hub-signature-256': await sign('development', '{}') })).status).toBe(401);
  });

  it('with an empty body is refused', async () => {
    expect((await post('')).status).toBe(400);
  });

  it('whose bytes are no UTF-8 is refused, whatever its signature', async () => {
    expect((await post(Buffer.from([0x7b, 0xff, 0x7d]))).status).toBe(400);
  });

  it('for another path or method is not found', async () => {
    expect((await post('{}', {}, '/')).status).toBe(404);
    expect((await post('{}', {}, '/api/github/webhooks/x')).status).toBe(404);
    expect((await ask('GET', webhookPath)).status).toBe(404);
  });

  it('of exactly 25 MB is taken', async () => {
    const body = `"${'x'.repeat(maxBodyBytes - 2)}"`;
    expect((await post(body)).status).toBe(202);
    expect(recorded[0]?.payload.length).toBe(maxBodyBytes);
  });

  it('that says it is larger is refused by its header', async () => {
    const answer = post('{}', { 'content-length': String(maxBodyBytes + 1), expect: '100-continue' });
    expect((await answer).status).toBe(413);
  });

  it('that is larger without saying so is refused while it streams', async () => {
    const answer = await post(Buffer.alloc(maxBodyBytes + 1_000_000), { 'transfer-encoding': 'chunked' });
    expect(answer.status).toBe(413);
  });

  it('that is waited for with 100-continue is taken', async () => {
    expect((await post('{}', { expect: '100-continue' })).status).toBe(202);
  });
});

describe('without Redis', () => {
  it('a webhook is answered 503 after 5 s, and may be sent again', async () => {
    record = () => new Promise(() => {});
    const start = performance.now();
    const answer = await post('{}');
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(JSON.parse(answer.body).error.retryable).toBe(true);
    expect(performance.now() - start).toBeGreaterThan(4_900);
    expect(performance.now() - start).toBeLessThan(30_000);
  });

  it('a webhook is answered 503 at once where Redis refuses', async () => {
    record = () => Promise.reject(new Error('no'));
    expect((await post('{}')).status).toBe(503);
  });

  it('the server lives, but is not ready', async () => {
    ready = () => Promise.reject(new Error('no'));
    expect((await ask('GET', '/healthz')).status).toBe(200);
    expect((await ask('GET', '/readyz')).status).toBe(503);
    ready = async () => false;
    expect((await ask('GET', '/readyz')).status).toBe(503);
    ready = async () => true;
    expect((await ask('GET', '/readyz')).status).toBe(200);
  });
});

describe('many uploads at one time', () => {
  it('are refused beyond 64 MB together, and taken again afterwards', async () => {
    const gate = deferred<'recorded'>();
    record = (delivery) => {
      recorded.push(delivery);
      return recorded.length <= 3 ? gate.promise : Promise.resolve('recorded');
    };
    const large = `"${'x'.repeat(20 * 1024 * 1024)}"`;
    const first = [post(large), post(large), post(large)];
    await until(() => recorded.length === 3);
    expect((await post(large)).status).toBe(503);
    gate.resolve('recorded');
    expect((await Promise.all(first)).map((answer) => answer.status)).toEqual([202, 202, 202]);
    expect((await post(large)).status).toBe(202);
  });

  it('that are broken off give back what they held', async () => {
    for (let round = 0; round < 5; round += 1) await breakOff(15 * 1024 * 1024);
    expect((await post(`"${'x'.repeat(20 * 1024 * 1024)}"`)).status).toBe(202);
  });
});

it('a sender that never finishes its headers is cut off', { timeout: 60_000 }, async () => {
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /api/github/webhooks HTTP/1.1\r\nHost: x\r\n');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'close');
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
});

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((given) => {
    resolve = given;
  });
  return { promise, resolve };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await ask('GET', '/healthz');
}

/** Sends a part of a large body and closes the connection; resolves when the server has seen that. */
async function breakOff(bytes: number): Promise<void> {
  const seen = new Promise((resolve) => door.once('connection', (socket) => socket.once('close', resolve)));
  const socket = connect(port, '127.0.0.1');
  const headers = [
    `POST ${webhookPath} HTTP/1.1`,
    'Host: x',
    'Content-Type: application/json',
    `X-GitHub-Delivery: ${randomUUID()}`,
    'X-GitHub-Event: issues',
    'X-Hub-Signature-256: sha256=0',
    `Content-Length: ${bytes * 2}`,
  ];
  socket.on('error', () => {});
  socket.write(`${headers.join('\r\n')}\r\n\r\n`);
  socket.write(Buffer.alloc(bytes), () => socket.destroy());
  await seen;
}
