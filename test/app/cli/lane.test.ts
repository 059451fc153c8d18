import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Engine, intakeNamespace } from '../../../lanes/index.ts';
import { commandLine } from '../../demo/lanekeeper.ts';
import { testEngine } from '../../support/engine.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { credentialsIn } from '../../support/redis-users.ts';
import { callerNamed, crash, lane, newTask } from '../../support/tasks.ts';

const app = callerNamed('app', [lane, intakeNamespace]);
const folder = mkdtempSync(join(tmpdir(), 'lanekeeper-lane-'));
const credentialsFile = join(folder, 'credentials.json');
let server: TestRedis;
let engine: Engine;

beforeAll(async () => {
  server = await startTestRedis();
  engine = testEngine(server.url);
  const credentials = await credentialsIn(server.url, 'cli', [lane, intakeNamespace]);
  writeFileSync(credentialsFile, JSON.stringify(credentials), { mode: 0o600 });
  writeFileSync(join(folder, 'lanekeeper.yml'), 'lanes: { triage: { agent: { kind: checks } } }\n');
});
afterAll(async () => {
  await engine.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function lanekeeper(...args: string[]) {
  const child = spawn(process.execPath, commandLine(args), {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, LANES_DATA_DIR: join(folder, 'var') },
      ...{ LANES_REDIS_URL: server.url, LANES_CREDENTIALS: credentialsFile },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

it('pause keeps a lane from starting anything until resume-lane', async () => {
  const { id } = await engine.admit(app, newTask());
  const paused = await lanekeeper('pause', 'triage', '--json');
  expect(paused).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(paused.stdout)).toEqual({ namespace: lane, lanes: ['triage'], paused: true });
  expect(await engine.claim(app, lane, id)).toMatchObject({ state: 'paused' });
  const resumed = await lanekeeper('resume-lane', 'triage');
  expect(resumed).toMatchObject({ code: 0, stdout: 'resumed: lane triage (lane:triage)\n' });
  expect(await engine.claim(app, lane, id)).toMatchObject({ kind: 'claimed' });
});

it('a lane that is not there is told, with those that are', async () => {
  const { code, stdout, stderr } = await lanekeeper('pause', 'Triage');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('there is no lane "Triage", there is: triage');
});

it('retry lets a task start now that waits after a death', async () => {
  const { id, issue } = await engine.admit(app, newTask());
  const claim = await engine.claim(app, lane, id);
  if (claim.kind !== 'claimed') throw new Error('not claimed');
  await engine.record(app, claim.lease, claim.task, crash);
  await engine.issues.update(app, issue, (record) => ({ ...record, latest: { namespace: lane, task: id } }));
  expect(await engine.claimNext(app, lane)).toBeNull();
  const { code, stdout } = await lanekeeper('retry', String(issue.number), '--json');
  expect({ code, told: JSON.parse(stdout) }).toMatchObject({
    code: 0,
    told: { id, state: 'queued', run: 1 },
  });
  const again = await lanekeeper('retry', String(issue.number));
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain('may start already');
  expect(await engine.claimNext(app, lane)).toMatchObject({ task: { id } });
});

it('refusals lists counts and the newest ones', async () => {
  const refusal = {
    event: 'refused',
    namespace: 'agent:42',
    verb: 'claim',
    by: 'warm\u001b[31m',
    code: 'fleet_queue_off_limits',
    atMs: 0,
  } as const;
  const counts = { fleet_queue_off_limits: 7 };
  await engine.refusals.record(app, { events: [refusal], counts });
  const [words, json] = await Promise.all([lanekeeper('refusals'), lanekeeper('refusals', '--json')]);
  expect(words).toMatchObject({ code: 0, stderr: '' });
  const line = /^1970-01-01 00:00:00 {2}warm\S* {2}claim in agent:42: fleet_queue_off_limits$/m;
  expect(words.stdout).toMatch(line);
  expect(words.stdout).toMatch(/^fleet_queue_off_limits: 7\n/);
  expect(words.stdout).not.toContain('\u001b');
  expect(JSON.parse(json.stdout)).toEqual({ counts, newest: [refusal] });
});
