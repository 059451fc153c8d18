import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { sibling } from '../../../app/sibling.ts';
import { makeRemote, temporaryFolder } from '../../lanes/work/support.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { credentialsIn } from '../../support/redis-users.ts';
import { type OwnerProcess, startOwner } from '../owners.ts';
import { bootstrapFor, namespace } from './support.ts';

let redis: TestRedis;
let owner: OwnerProcess | undefined;
afterEach(async () => {
  await owner?.kill();
  await redis.stop();
});

it("a worker that starts has removed the dead one's copies before it serves, and says so", {
  timeout: 240_000,
}, async () => {
  redis = await startTestRedis();
  const dataDir = join(temporaryFolder(), 'var');
  const remote = makeRemote({ 'a.txt': 'a\n' });
  owner = await startOwner(remote, 'worker-a', [{ dataDir, states: ['worked'] }]);
  await owner.kill();
  const [[id] = []] = owner.ids;
  const credentials = await credentialsIn(redis.url, 'worker-a', [namespace]);
  const bootstrap = { ...bootstrapFor(dataDir, redis.url, credentials), logLevel: 'info' };
  const { url, execArgv } = sibling(import.meta.url, '../../../app/worker');
  const child = fork(fileURLToPath(url), { execArgv, stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  const ended = once(child, 'exit');
  try {
    child.send({ say: 'begin', bootstrap });
    const [message] = await once(child, 'message');
    expect(message).toMatchObject({ say: 'serving' });
    const tombstone = JSON.parse(readFileSync(join(dataDir, 'tombstones', `${id}.json`), 'utf8'));
    expect(tombstone).toMatchObject({
      ...{ reason: 'dead_owner_salvaged', phase: 'done', owner: { pid: owner.pid } },
      reapers: [{ instance: 'worker-a', pid: child.pid }],
    });
  } finally {
    child.send({ say: 'stop', graceMs: 0 });
    await ended;
  }
  const lines = said
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toContainEqual(
    expect.objectContaining({ copy: id, msg: "a dead owner's copy was removed; its work is in the outbox" }),
  );
});
