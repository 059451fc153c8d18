import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readDoctorConfig } from '../../../app/config.ts';
import { type Diagnosis, diagnose } from '../../../app/doctor/index.ts';
import { commandLine } from '../../demo/lanekeeper.ts';
import { freePort, type OwnRedis, startOwnRedis } from '../../support/redis.ts';

let folder: string;
let dataDir: string;
let redis: OwnRedis;

beforeAll(async () => {
  redis = await startOwnRedis();
  const client = new Redis(redis.url);
  await client.config('SET', 'appendonly', 'no');
  await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
  client.disconnect();
});
afterAll(() => redis.stop());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lanekeeper-doctor-test-'));
  dataDir = join(folder, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  return () => rmSync(folder, { recursive: true, force: true });
});

async function look(env: Record<string, string> = {}): Promise<Diagnosis> {
  return await diagnose(readDoctorConfig({ LANES_DATA_DIR: dataDir, LANES_REDIS_URL: redis.url, ...env }));
}

function of({ findings }: Diagnosis, check: string) {
  return findings.filter((finding) => finding.check === check);
}

it('a Redis that loses and evicts is told of, and nothing stays of the look', {
  timeout: 120_000,
}, async () => {
  const diagnosis = await look();
  expect(of(diagnosis, 'redis durability')).toMatchObject([{ verdict: 'warn', evidence: 'appendonly no' }]);
  expect(of(diagnosis, 'redis memory')).toMatchObject([{ verdict: 'warn' }]);
  expect(of(diagnosis, 'writing')).toMatchObject([{ verdict: 'ok' }]);
  expect(readdirSync(dataDir)).toEqual([]);
});

it('what is wrong is found, each with what to do', { timeout: 120_000 }, async () => {
  writeFileSync(join(folder, 'lanekeeper.yml'), 'lanes:\n  triage: { agent: { kind: nobody } }\n');
  writeFileSync(join(dataDir, 'redis-users.json'), '{}', { mode: 0o644 });
  chmodSync(dataDir, 0o755);
  const nobody = await freePort();
  const diagnosis = await look({
    ...{ LANES_CONFIG: join(folder, 'lanekeeper.yml'), PORT: 'none', LANES_LANE: 'x' },
    ...{ LANES_REDIS_URL: `redis://:hidden-word@127.0.0.1:${nobody}` },
    ...{
      LANES_APP_URL: `http://me:hidden-word@127.0.0.1:${nobody}`,
      LANES_WORKER_TOKEN: `lkw_01234567_${'a'.repeat(43)}`,
    },
  });
  expect(diagnosis.verdict).toBe('fail');
  const failed = diagnosis.findings.filter(({ verdict }) => verdict === 'fail');
  const checks = failed.map(({ check }) => check);
  expect(new Set(checks)).toEqual(
    new Set(['settings', "operator's file", 'data directory', 'secrets', 'redis', 'app']),
  );
  for (const finding of failed) expect(finding.better, finding.check).toBeTruthy();
  expect(of(diagnosis, "operator's file")[0]?.evidence).toMatch(/lanekeeper\.yml:2:\d+: /);
  const said = JSON.stringify(diagnosis);
  expect(said).toContain('LANES_LANE');
  expect(said).not.toContain('hidden-word');
  expect(said).not.toContain('aaaaaaaa');
});

it('the command prints one JSON value, and makes no data directory', { timeout: 120_000 }, async () => {
  rmSync(dataDir, { recursive: true });
  const child = spawn(process.execPath, commandLine(['doctor', '--json']), {
    cwd: folder,
    env: { PATH: process.env.PATH, LANES_DATA_DIR: dataDir, LANES_REDIS_URL: redis.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  const diagnosis = JSON.parse(stdout) as Diagnosis;
  expect(stderr).toBe('');
  expect(code).toBe(diagnosis.verdict === 'fail' ? 1 : 0);
  for (const finding of diagnosis.findings)
    expect(Object.keys(finding).sort()).toEqual(['better', 'check', 'evidence', 'verdict']);
  const missing = { verdict: 'warn', evidence: `${dataDir} is not there` };
  expect(of(diagnosis, 'data directory')).toMatchObject([missing]);
  expect(existsSync(dataDir)).toBe(false);
});
