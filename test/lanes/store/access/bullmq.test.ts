import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keyPrefix } from '../../../../lanes/namespaces.ts';
import { openForQueue, openRedis } from '../../../../lanes/store/connect.ts';
import { type OwnRedis, startOwnRedis } from '../../../support/redis.ts';
import { testCredential } from '../../../support/redis-users.ts';
import { lane } from '../../../support/tasks.ts';
import { until } from '../../../support/until.ts';
import { computed, inScripts, sent, sentByScripts } from './bullmq-commands.ts';

const user = testCredential(lane).username;
const key = `${keyPrefix(lane)}:wake:x`;
const root = join(
  dirname(createRequire(import.meta.url).resolve('bullmq/package.json')),
  'dist/cjs/commands',
);

let server: OwnRedis;
let admin: Redis;
beforeAll(async () => {
  server = await startOwnRedis();
  admin = new Redis(server.url);
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

/** The Lua of all scripts, without comments: those speak of commands too. */
function scripts(): string {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.lua'),
  );
  const texts = files.map((file) => readFileSync(join(root, file), 'utf8'));
  return texts
    .join('\n')
    .replaceAll(/--\[\[.*?\]\]/gs, '')
    .replaceAll(/--.*$/gm, '');
}

/** Redis's word on a command of this user: OK, or why not. */
async function dryRun(command: string): Promise<string> {
  const [info] = (await admin.call('COMMAND', 'INFO', command)) as [[string, number]];
  const least = Math.abs(info?.[1] ?? 2) - 1;
  const streams = command === 'XREAD' ? ['STREAMS', key, '0'] : [];
  const scripted = /^EVAL/.test(command) ? ['return 1', '1', key] : [];
  const special = [...streams, ...scripted];
  const args = special.length > 0 ? special : Array.from({ length: least }, () => key);
  return String(await admin.call('ACL', 'DRYRUN', user, command, ...args));
}

it('the commands in its scripts are the ones that were looked through, and all are allowed', async () => {
  const known = new Set((await admin.call('COMMAND', 'LIST')) as string[]);
  const words = [...scripts().matchAll(/["']([A-Z]{2,})["']/g)].map(([, word = '']) => word);
  const found = [...new Set(words)].filter((word) => known.has(word.toLowerCase())).sort();
  expect(found).toEqual(inScripts);
  const answers = await Promise.all(found.map(async (command) => [command, await dryRun(command)]));
  expect(answers.filter(([, answer]) => answer !== 'OK')).toEqual([]);
});

it('the calls in its scripts with a computed command are the ones that were looked through', () => {
  const calls = [...scripts().matchAll(/\b(?:rcall|redis\.p?call)\((?!\s*["'])([^,)]*)/g)].map(
    ([, what = '']) => what,
  );
  expect([...new Set(calls)].sort()).toEqual(computed);
});

it('a round of queue and worker says what was looked through, and all of it is allowed', async () => {
  const seen = { sent: new Set<string>(), sentByScripts: new Set<string>() };
  const monitor = await admin.monitor();
  let ended = false;
  monitor.on('monitor', (_time: string, [name = '', sub = '']: string[], source: string) => {
    if (/^echo$/i.test(name)) {
      ended = true;
      return;
    }
    const two = /^(?:client|script|xgroup)$/i.test(name) ? `${name}|${sub}` : name;
    seen[source === 'lua' ? 'sentByScripts' : 'sent'].add(two.toUpperCase());
  });
  await playRound();
  // What is monitored comes in order, and later than the answers.
  await admin.echo('the end');
  await until('all was seen', async () => ended);
  monitor.disconnect();
  expect([...seen.sent].sort()).toEqual(sent);
  expect([...seen.sentByScripts].sort()).toEqual(sentByScripts);
});

/** Every kind of call that ours or a worker beside ours makes, as the namespace's user. */
async function playRound(): Promise<void> {
  const verbs = openRedis(server.url, testCredential(lane));
  const { redis: forWorker, end } = openForQueue(verbs);
  const prefix = keyPrefix(lane);
  await until('connected', async () => verbs.status === 'ready' && forWorker.status === 'ready');
  const queue = new Queue('wake', { connection: verbs, prefix });
  const errors: string[] = [];
  const runs: string[] = [];
  const handle = async (job: { name: string; attemptsMade: number }): Promise<void> => {
    runs.push(job.name);
    if (job.name === 'stalls' && runs.filter((name) => name === 'stalls').length === 1)
      return new Promise(() => {});
    if (job.name === 'fails' || (/^(again|later)$/.test(job.name) && job.attemptsMade === 0))
      throw new Error('out of luck');
  };
  const worker = new Worker('wake', handle, {
    ...{ connection: forWorker, prefix, name: 'worker-a', concurrency: 4, autorun: false },
    ...{ skipLockRenewal: true, lockDuration: 1_000, stalledInterval: 300, maxStalledCount: 9 },
  });
  worker.on('error', (error) => errors.push(error.message));
  const gone = { removeOnComplete: true, removeOnFail: true };
  await queue.add('plain', {}, gone);
  await queue.add('late', {}, { ...gone, delay: 30 });
  await queue.add('fails', {}, gone);
  await queue.add('again', {}, { ...gone, attempts: 2 });
  await queue.add('later', {}, { ...gone, attempts: 2, backoff: { type: 'fixed', delay: 20 } });
  await queue.add('stalls', {}, gone);
  await queue.pause();
  await queue.resume();
  void worker.run();
  const wanted = { plain: 1, late: 1, fails: 1, again: 2, later: 2, stalls: 2 };
  const countOf = (name: string): number => runs.filter((one) => one === name).length;
  await until('all were worked on', async () =>
    Object.entries(wanted).every(([name, count]) => countOf(name) >= count),
  );
  const held = await queue.add('held', {}, gone);
  await until('it is done', async () => (await queue.getJob(held.id ?? '')) === undefined);
  await worker.pause(true);
  worker.resume();
  await worker.close(true);
  await queue.close();
  verbs.disconnect();
  end();
  expect(errors).toEqual([]);
}
