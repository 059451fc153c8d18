/**
 * A stage for failures: the stand-in, a repository, a gate for agents, and Lanekeeper as a person starts it, which a test
 * may kill and start again on the same data. What counts is the end that is seen on GitHub and in the store.
 */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { noteKey } from '../../app/broker/note/index.ts';
import { type Lanekeeper, settingsFor, startLanekeeper } from '../demo/lanekeeper.ts';
import { noteReader } from '../demo/notes.ts';
import type { Watched } from '../demo/watch.ts';
import { type GitHubStandIn, type MadeRepo, startGitHub } from '../fakes/github.ts';
import { until } from '../support/until.ts';
import { type Gate, openGate } from './gate.ts';

export const label = 'lane:fix';

export interface StartOptions {
  /** Another name than `alpha` has a data directory of its own. */
  readonly worker?: string;
  /** Default: a Redis of its own. */
  readonly redisUrl?: string;
}

export interface FlowStage {
  readonly github: GitHubStandIn;
  readonly repo: MadeRepo;
  readonly gate: Gate;
  readonly watched: Watched;
  /** Starts Lanekeeper, again where it was started before; deliveries go to the one that was started last. */
  start(options?: StartOptions): Promise<Lanekeeper>;
  dataDir(worker?: string): string;
  /** Waits until Lanekeeper's log holds this text. */
  says(text: string): Promise<unknown>;
  /** What Lanekeeper logged. */
  log(): string;
  close(): Promise<void>;
  /** Opens an issue with one criterion, and labels it; with `held`, its agents wait at the gate. */
  issue(options?: { readonly held?: boolean; readonly labels?: string[] }): Promise<number>;
  /** An issue whose agent waits at the gate now. */
  running(): Promise<number>;
}

const owner = 'acme';
const name = 'shop';
const body = '## Acceptance criteria\n\n- [ ] The file is there\n';
const agent = fileURLToPath(new URL('./agents/gated.mjs', import.meta.url));

const configFor = (agentFile: string, gate: string): string => `
lanes:
  fix:
    agent: { kind: command, run: [node, ${agentFile}, "${gate}"] }
    writes: true
    concurrency: 4
    maxRuns: 20
    timeoutMinutes: 5
    checks:
      unit: { run: [test, -f, done.txt], proves: ["*"] }
grants:
  alpha: ["lane:fix"]
  beta: ["lane:fix"]
`;

/** Starts are work for the processor: many at once would all be late. */
const startsAtOnce = 2;
const starting = new Set<Promise<unknown>>();

async function inTurn<T>(start: () => Promise<T>): Promise<T> {
  while (starting.size >= startsAtOnce) await Promise.race(starting);
  const one = start();
  const over = one.catch(() => {});
  starting.add(over);
  try {
    return await one;
  } finally {
    starting.delete(over);
  }
}

/** A stage for all tests of a suite. Where one fails, Lanekeeper's log is shown. */
export function useStage(): () => FlowStage {
  let stage: FlowStage;
  beforeAll(async () => {
    stage = await openFlowStage();
  }, 170_000);
  beforeEach(({ onTestFailed }) => onTestFailed(() => void process.stderr.write(stage.log())));
  afterAll(() => stage.close());
  return () => stage;
}

export async function openFlowStage(): Promise<FlowStage> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-flow-'));
  const [github, gate] = await Promise.all([startGitHub(), openGate()]);
  const repo = await github.createRepo({ owner, name });
  await cp(agent, join(folder, 'gated.mjs'));
  const config = join(folder, 'lanekeeper.yml');
  await writeFile(config, configFor(join(folder, 'gated.mjs'), gate.url));
  const started: Lanekeeper[] = [];
  const log: string[] = [];
  const dataDir = (worker = 'alpha') => join(folder, worker);
  const people = github.octokit(github.people.admin.token);
  const issue: FlowStage['issue'] = async ({ held = false, labels = [label] } = {}) => {
    const { data } = await people.issues.create({ owner, repo: name, title: 'A file is missing', body });
    const { number } = data;
    if (held) gate.hold(number);
    if (labels.length > 0) await people.issues.addLabels({ owner, repo: name, issue_number: number, labels });
    return number;
  };
  return {
    github,
    repo,
    gate,
    watched: {
      people,
      owner,
      repo: name,
      readNote: noteReader(noteKey({ privateKeyPem: github.privateKey }), github.appId, repo.id),
    },
    dataDir,
    async start({ worker = 'alpha', redisUrl = '' } = {}) {
      const settings = settingsFor(github, { config, dataDir: dataDir(worker), worker });
      const all = { ...env, ...settings, LANES_REDIS_URL: redisUrl, LOG_LEVEL: 'info' };
      const running = await inTurn(() => startLanekeeper(all, { onLog: (text) => log.push(text) }));
      started.push(running);
      github.setHookUrl(`${running.url}/api/github/webhooks`);
      return running;
    },
    issue,
    log: () => log.join(''),
    says: (text) => until(`the log says "${text}"`, async () => log.join('').includes(text)),
    async running() {
      const number = await issue({ held: true });
      await until(`the agent of #${number}`, async () => gate.waiting(number).length > 0);
      return number;
    },
    async close() {
      for (const one of started) one.kill('SIGKILL');
      await Promise.all(started.map((one) => one.ended));
      await gate.close();
      await github.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}
