/**
 * A stage for workers elsewhere: the stand-in for GitHub, the App as a person starts it, a token for `box-42`, and boxes as
 * processes of their own, which have neither Redis nor anything of GitHub.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { noteKey } from '../../../app/broker/note/index.ts';
import { addToken } from '../../../app/fleet/token-file.ts';
import { commandLine, type Lanekeeper, settingsFor, startLanekeeper } from '../../demo/lanekeeper.ts';
import { noteReader } from '../../demo/notes.ts';
import { type SeenIssue, type Watched, waitFor } from '../../demo/watch.ts';
import { type GitHubStandIn, startGitHub } from '../../fakes/github.ts';
import { type Gate, openGate } from '../../flow/gate.ts';
import { until } from '../../support/until.ts';

export interface RunningBox {
  readonly child: ChildProcess;
  /** Resolves with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** What it printed on stderr. */
  log(): string;
  says(text: string): Promise<unknown>;
}

export interface BoxStage {
  readonly github: GitHubStandIn;
  readonly app: Lanekeeper;
  readonly gate: Gate;
  readonly watched: Watched;
  readonly folder: string;
  /** The App's. */
  readonly dataDir: string;
  readonly config: string;
  readonly token: string;
  /** Variables of a box of this App; its data lies in the folder `name`. */
  settings(name: string): Record<string, string>;
  /** A fresh token. */
  tokenFor(worker: string): Promise<string>;
  /** Starts a command elsewhere with these variables and no other. */
  elsewhere(args: readonly string[], variables: Record<string, string>): RunningBox;
  /** Starts `lanekeeper box` with these arguments; other variables take the place of its own. */
  box(name: string, args: readonly string[], more?: Record<string, string>): RunningBox;
  /** Runs a command beside the App, to its end, and gives what it printed. */
  command(...args: string[]): Promise<string>;
  issue(options?: { label?: string; title?: string; held?: boolean }): Promise<number>;
  /** Waits until the issue is closed with a complete note. */
  completes(issue: number): Promise<SeenIssue>;
  close(): Promise<void>;
}

const agent = fileURLToPath(new URL('./agents/far.mjs', import.meta.url));
const owner = 'acme';
const name = 'shop';
const body = '## Acceptance criteria\n\n- [ ] The file is there\n';

const configFor = (folder: string, gate: string): string => `
lanes:
  far:
    namespace: agent:42
    agent: { kind: command, run: [node, ${folder}/far.mjs, "${gate}"] }
    writes: true
    timeoutMinutes: 5
    checks:
      unit: { run: [test, -f, done.txt], proves: ["*"] }
  said:
    namespace: agent:43
    agent: { kind: checks }
    writes: true
    proof: asserted
  strict:
    namespace: agent:43
    agent: { kind: checks }
    checks:
      unit: { run: ["true"], proves: ["*"] }
  near:
    agent: { kind: command, run: [node, ${folder}/far.mjs, "${gate}"] }
    writes: true
    checks:
      unit: { run: [test, -f, done.txt], proves: ["*"] }
grants:
  machine-b: ["lane:near"]
  box-42: ["agent:42"]
  box-43: ["agent:43"]
`;

/** Starts everything. */
export async function openBoxStage(): Promise<BoxStage> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-box-'));
  const [github, gate] = await Promise.all([startGitHub(), openGate()]);
  const repo = await github.createRepo({ owner, name });
  await cp(agent, join(folder, 'far.mjs'));
  const config = join(folder, 'lanekeeper.yml');
  await writeFile(config, configFor(folder, gate.url));
  const dataDir = join(folder, 'app');
  const settings = settingsFor(github, { config, dataDir, worker: 'here' });
  const log: string[] = [];
  const app = await startLanekeeper(
    { ...env, ...settings, LANES_REDIS_URL: '' },
    { onLog: (text) => log.push(text) },
  );
  github.setHookUrl(`${app.url}/api/github/webhooks`);
  const people = github.octokit(github.people.admin.token);
  const started: RunningBox[] = [];
  const command = (...args: string[]) => run(args, { ...env, ...settings });
  const token = (await command('worker-token', 'add', 'box-42')).trim();
  const watched: Watched = {
    people,
    owner,
    repo: name,
    readNote: noteReader(noteKey({ privateKeyPem: github.privateKey }), github.appId, repo.id),
  };
  const elsewhere: BoxStage['elsewhere'] = (args, variables) => {
    const running = follow(
      spawn(...node(...args), { env: { PATH: env.PATH ?? '', ...variables }, cwd: folder }),
    );
    started.push(running);
    return running;
  };
  const boxSettings = (box: string) => ({
    LANES_APP_URL: app.url,
    LANES_WORKER_TOKEN: token,
    LANES_WORKER_NAME: 'box-42',
    LANES_DATA_DIR: join(folder, box),
  });
  return {
    github,
    app,
    gate,
    watched,
    folder,
    dataDir,
    config,
    token,
    settings: boxSettings,
    box(box, args, more = {}) {
      return elsewhere(['box', ...args], { ...boxSettings(box), ...more });
    },
    elsewhere,
    tokenFor: async (worker) => (await addToken(dataDir, worker, Date.now())).token,
    command,
    async issue({ label = 'lane:far', title = 'A file is missing', held = false } = {}) {
      const { data } = await people.issues.create({ owner, repo: name, title, body });
      if (held) gate.hold(data.number);
      await people.issues.addLabels({ owner, repo: name, issue_number: data.number, labels: [label] });
      return data.number;
    },
    completes: (issue) =>
      waitFor(
        watched,
        issue,
        'closing with a complete note',
        (seen) => seen.state === 'closed' && seen.notes.at(-1)?.state === 'complete',
        100_000,
      ),
    async close() {
      for (const { child } of started) if (child.exitCode === null) child.kill('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
      app.kill('SIGTERM');
      await app.ended;
      await gate.close();
      await github.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

/** How a command starts as a process. */
export function node(...args: string[]): [string, string[]] {
  return [process.execPath, commandLine(args)];
}

async function run(args: readonly string[], variables: Record<string, string | undefined>): Promise<string> {
  const child = spawn(...node(...args), { env: variables, stdio: ['ignore', 'pipe', 'inherit'] });
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`lanekeeper ${args.join(' ')} ended with ${code}`);
  return out;
}

function follow(child: ChildProcess): RunningBox {
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString('utf8');
  });
  return {
    child,
    ended: new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code ?? 0))),
    log: () => log,
    says: (words) => until(`a box says "${words}"`, async () => log.includes(words)),
  };
}
