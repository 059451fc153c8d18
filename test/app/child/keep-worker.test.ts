import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kill } from 'node:process';
import { afterEach, expect, it } from 'vitest';
import { type KeptWorker, keepWorker } from '../../../app/child/keep-worker.ts';
import { temporaryFolder } from '../../lanes/work/support.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { credentialsIn } from '../../support/redis-users.ts';
import { until } from '../../support/until.ts';
import { bootstrapFor, namespace, silentHost } from './support.ts';

let redis: TestRedis;
let worker: KeptWorker;
afterEach(async () => {
  await worker.stop(0);
  await redis.stop();
});

it('a worker that cannot serve when it is started again is ended, on record, and started until it can', {
  timeout: 240_000,
}, async () => {
  redis = await startTestRedis();
  const dataDir = join(temporaryFolder(), 'var');
  const told: string[] = [];
  const log = (_: object, message: string) => void told.push(message);
  worker = keepWorker({
    bootstrap: bootstrapFor(dataDir, redis.url, await credentialsIn(redis.url, 'worker-a', [namespace])),
    host: silentHost,
    refused: () => {},
    log: { info: log, warn: log, error: log } as never,
  });
  await worker.serving;
  const first = worker.pid() ?? 0;
  const copies = join(dataDir, 'copies');
  await rename(copies, `${copies}-away`);
  await writeFile(copies, 'in the way');
  kill(first, 'SIGKILL');
  await until('it says that it cannot', async () => told.includes('the worker cannot serve'), 90_000);
  await rm(copies);
  await rename(`${copies}-away`, copies);
  const serves = () => told.filter((message) => message === 'the worker serves').length;
  await until('it serves again', async () => serves() === 2, 90_000);
  const [week = ''] = await readdir(join(dataDir, 'ledger'));
  const [intent = ''] = (await readFile(join(dataDir, 'ledger', week), 'utf8')).split('\n');
  expect(JSON.parse(intent)).toMatchObject({ event: 'worker_kill_intent', signal: 'SIGTERM' });
});
