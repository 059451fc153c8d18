import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isContained } from '../../../lanes/work/containment/levels.ts';
import { superviseRun } from '../../../lanes/work/supervisor.ts';
import { agentsFolder, levels, makeLane, makeSetting, type RunSetting } from './run-support.ts';
import { temporaryFolder } from './support.ts';

const canary = `canary-${randomUUID()}`;
let bystander: ChildProcess;
const servers: Server[] = [];

beforeAll(async () => {
  // Another process of the same user, whose environment holds what a worker's parent would.
  bystander = spawn('sleep', ['600'], {
    env: { PRIVATE_KEY: canary, PATH: '/usr/bin:/bin' },
    stdio: 'ignore',
  });
  await once(bystander, 'spawn');
});
afterAll(() => {
  bystander.kill('SIGKILL');
  for (const server of servers) server.close();
});

/** A worker whose data folder, key file and socket all hold the canary. */
async function plant(): Promise<{ setting: RunSetting; run: string[] }> {
  const setting = await makeSetting();
  const { place } = setting;
  for (const folder of [place.dataDir, place.outboxDir, place.mirrorsDir, place.ctlDir, place.workDir]) {
    writeFileSync(join(folder, 'credentials.json'), canary);
  }
  // The program's own folder is shown to it: the data folder and the key lie right there.
  const folder = dirname(place.dataDir);
  const key = join(folder, 'key.pem');
  writeFileSync(key, canary);
  for (const name of ['steals.mjs', 'contract.mjs']) {
    copyFileSync(join(agentsFolder, name), join(folder, name));
  }
  const socketFolder = temporaryFolder();
  const socket = join(socketFolder, 'agent.sock');
  const server = createServer((connection) => connection.end(canary)).listen(socket);
  await once(server, 'listening');
  servers.push(server);
  setting.deps = {
    ...setting.deps,
    hide: [key],
    worker: {
      ...setting.deps.worker,
      WEBHOOK_SECRET: canary,
      LANES_REDIS_URL: `redis://:${canary}@127.0.0.1`,
    },
  };
  const answer = setting.host.answer;
  if (answer.allowed) answer.input.clone.token = canary;
  const places = JSON.stringify([place.dataDir, folder, socketFolder, `unix:${socket}`]);
  const program = join(folder, 'steals.mjs');
  return { setting, run: [process.execPath, program, Buffer.from(places).toString('base64')] };
}

describe.each(levels.filter(({ level }) => isContained(level)))('in containment by $level', (containment) => {
  test('an agent that looks everywhere finds no credential', async () => {
    const { setting, run } = await plant();
    const deps = { ...setting.deps, levels: [containment] };
    const order = setting.order({ lane: makeLane({ agent: { kind: 'command', run } }) });
    const end = await superviseRun(deps, order);
    expect(end).toMatchObject({
      kind: 'result',
      summary: '',
      question: expect.stringMatching(/^looked at [1-9]/),
    });
    expect(JSON.stringify(end)).not.toContain(canary);
  });

  test('a check that looks everywhere finds no credential', async () => {
    const { setting } = await plant();
    const { dataDir } = setting.place;
    const look = `cat /proc/[0-9]*/environ ${dataDir}/credentials.json ${dataDir}/*/credentials.json 2>/dev/null`;
    const steals = { run: ['sh', '-c', `${look} | grep -aq 'canary-[0-9a-f]'`], proves: ['*'] };
    const deps = { ...setting.deps, levels: [containment] };
    const end = await superviseRun(deps, setting.order({ lane: makeLane({ checks: { steals } }) }));
    expect(end).toMatchObject({
      dispositions: [{ kind: 'not_met', reason: expect.stringContaining('failed with exit 1') }],
    });
    expect(existsSync(join(dataDir, 'credentials.json'))).toBe(true);
  });
});

test('without containment the same agent finds all of them: it looks in the right places', async () => {
  const { setting, run } = await plant();
  const lane = makeLane({ agent: { kind: 'command', run }, containment: 'none' });
  const end = await superviseRun(setting.deps, setting.order({ lane }));
  const found = end.kind === 'result' ? end.summary.split('\n') : [];
  const { dataDir } = setting.place;
  expect(found).toEqual(
    expect.arrayContaining([
      `/proc/${bystander.pid}/environ`,
      join(dataDir, 'credentials.json'),
      join(dataDir, 'outbox', 'credentials.json'),
      expect.stringMatching(/key\.pem$/),
      expect.stringMatching(/agent\.sock$/),
    ]),
  );
});
