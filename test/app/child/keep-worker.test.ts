import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kill } from 'node:process';
import { afterEach, it } from 'vitest';
import { type KeptWorker, keepWorker } from '../../../app/child/keep-worker.ts';
import { networkEnvironment, workerEnvironment } from '../../../app/config.ts';
import { fillLane } from '../../../lanes/index.ts';
import { makeRegistry, parseNamespace } from '../../../lanes/namespaces.ts';
import { laneSchema } from '../../../lanes/records/config.ts';
import { temporaryFolder } from '../../lanes/work/support.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

let redis: TestRedis;
let worker: KeptWorker;
afterEach(async () => {
  await worker.stop(0);
  await redis.stop();
});

it('a worker that cannot serve when it is started again is started until it can', async () => {
  redis = await startTestRedis();
  const namespace = parseNamespace('lane:plain');
  const dataDir = join(temporaryFolder(), 'var');
  const told: string[] = [];
  const log = (_: object, message: string) => void told.push(message);
  worker = keepWorker({
    bootstrap: {
      identity: 'worker-a',
      namespaces: [namespace],
      registry: [...makeRegistry([namespace])],
      lanes: [fillLane('plain', laneSchema.parse({ agent: { kind: 'checks' } }))],
      redisUrl: redis.url,
      dataDir,
      hide: [],
      environment: workerEnvironment([]),
      networkEnvironment: networkEnvironment(),
      logLevel: 'silent',
    },
    host: {
      allowed: () => Promise.reject(new Error('not asked in this test')),
      lookUp: () => Promise.reject(new Error('not asked in this test')),
    },
    log: { info: log, warn: log, error: log } as never,
  });
  await worker.serving;
  const first = worker.pid() ?? 0;
  await rename(dataDir, `${dataDir}-away`);
  await writeFile(dataDir, 'in the way');
  kill(first, 'SIGKILL');
  await until('it says that it cannot', async () => told.includes('the worker cannot serve'));
  await rm(dataDir);
  await rename(`${dataDir}-away`, dataDir);
  const serves = () => told.filter((message) => message === 'the worker serves').length;
  await until('it serves again', async () => serves() === 2);
});
