/**
 * One of the two servers that `webhook_ack` compares, in a process of its own: `ours`, the door on real Redis, or
 * `peer`, a bare Probot app with an empty handler. Tells its parent its port; ends when the parent says so.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeMiddleware, Probot } from 'probot';
import { createDoor, webhookPath } from '../../app/intake/door.ts';
import { createEngine, openRedis, startEmbeddedRedis } from '../../lanes/index.ts';
import { intakeNamespace, makeCaller, makeRegistry } from '../../lanes/namespaces.ts';

const [kind = '', secret = ''] = process.argv.slice(2);

interface Running {
  server: Server;
  close(): Promise<void>;
}

async function startOurs(): Promise<Running> {
  const root = mkdtempSync(join(tmpdir(), 'lanekeeper-bench-'));
  const redis = await startEmbeddedRedis({ dataDir: root });
  const caller = makeCaller('app', [intakeNamespace]);
  const engine = createEngine({
    connect: () => openRedis(redis.url),
    registry: makeRegistry([]),
    id: () => randomUUID(),
  });
  const server = createDoor({
    secret,
    recordDelivery: (delivery) => engine.deliveries.record(caller, delivery),
    isReady: async () => true,
    now: () => Date.now(),
    log: { warn: (fields: unknown) => console.error(fields) },
  });
  const close = async () => {
    await engine.close();
    await redis.stop();
    rmSync(root, { recursive: true });
  };
  return { server, close };
}

async function startPeer(): Promise<Running> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const probot = new Probot({ appId: 1, privateKey: pem, secret, logLevel: 'fatal' });
  const middleware = await createNodeMiddleware((app) => app.on('issues.labeled', () => {}), {
    probot,
    webhooksPath: webhookPath,
  });
  return {
    server: createServer((request, response) => void middleware(request, response)),
    close: async () => {},
  };
}

const { server, close } = kind === 'ours' ? await startOurs() : await startPeer();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.({ port: (server.address() as AddressInfo).port });
await once(process, 'disconnect');
server.closeAllConnections();
server.close();
await close();
