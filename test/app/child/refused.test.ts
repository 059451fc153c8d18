import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import { type KeptWorker, keepWorker } from '../../../app/child/keep-worker.ts';
import type { RefusalBatch } from '../../../lanes/index.ts';
import { parseNamespace } from '../../../lanes/namespaces.ts';
import { temporaryFolder } from '../../lanes/work/support.ts';
import { makeUser } from '../../support/acl.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { bootstrapFor, namespace, silentHost } from './support.ts';

let redis: OwnRedis;
let worker: KeptWorker;
afterEach(async () => {
  await worker.stop(0);
  await redis.stop();
});

it("what a worker is refused stands in its machine's ledger and reaches the App, once", async () => {
  redis = await startOwnRedis();
  const admin = new Redis(redis.url);
  const { username: user, password } = await makeUser(admin, parseNamespace('lane:other'));
  const dataDir = join(temporaryFolder(), 'var');
  const heard: RefusalBatch[] = [];
  worker = keepWorker({
    bootstrap: bootstrapFor(dataDir, redis.url, { [namespace]: { user, password } }),
    host: silentHost,
    refused: (batch) => heard.push(batch),
    log: { info() {}, warn() {}, error() {} } as never,
  });
  await worker.serving;
  await until('the App hears of it', async () => heard.length > 0);
  admin.disconnect();
  const refusal = { event: 'refused', verb: 'serve', by: 'worker-a', namespace, code: 'store_refused' };
  expect(heard).toMatchObject([{ events: [refusal], counts: { store_refused: 1 } }]);
  const folder = join(dataDir, 'ledger');
  const lines = readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').trim().split('\n'),
  );
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ ...refusal, v: 1, instance: 'worker-a' }]);
});
