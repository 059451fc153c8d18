/** The demo's stage: the stand-in for GitHub, a repository with code in it, and Lanekeeper as a person would start it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { noteKey } from '../../app/broker/note/index.ts';
import { type GitHubStandIn, startGitHub } from '../fakes/github.ts';
import { noteReader } from './notes.ts';
import type { Watched } from './watch.ts';

export interface Stage {
  readonly github: GitHubStandIn;
  readonly watched: Watched;
  /** Where Lanekeeper listens. */
  readonly url: string;
  readonly dataDir: string;
  /** Resolves when Lanekeeper ends, whoever ended it. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const readyWithinMs = 30_000;
const owner = 'acme';
const name = 'shop';

/**
 * Sets everything up. `env` is the environment that Lanekeeper's own variables are added to; `config` stands in for the
 * demo's operator's file.
 */
export async function openStage(
  env: Readonly<Record<string, string | undefined>>,
  config?: string,
): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-demo-'));
  const github = await startGitHub();
  const repo = await github.createRepo({ owner, name, files: await filesOf(here('./repository')) });
  await cp(here('./agents'), join(folder, 'agents'), { recursive: true });
  const file = config ?? (await readFile(here('./lanekeeper.yml'), 'utf8'));
  await writeFile(join(folder, 'lanekeeper.yml'), file.replace('AGENT', join(folder, 'agents', 'fixer.mjs')));
  const dataDir = join(folder, 'var');
  const child = startLanekeeper({ ...env, ...settings(github, folder, dataDir) });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await ended;
    await github.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const url = await whenReady(child);
    github.setHookUrl(`${url}/api/github/webhooks`);
    const readNote = noteReader(noteKey({ privateKeyPem: github.privateKey }), github.appId, repo.id);
    const people = github.octokit(github.people.admin.token);
    return { github, watched: { people, owner, repo: name, readNote }, url, dataDir, ended, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = async (file: string) => [relative(folder, file), await readFile(file, 'utf8')] as const;
  return Object.fromEntries(await Promise.all(files.map(read)));
}

function settings(github: GitHubStandIn, folder: string, dataDir: string): Record<string, string> {
  return {
    APP_ID: String(github.appId),
    PRIVATE_KEY: github.privateKey,
    WEBHOOK_SECRET: github.webhookSecret,
    GITHUB_API_URL: github.url,
    GITHUB_SERVER_URL: github.gitUrl,
    LANES_CONFIG: join(folder, 'lanekeeper.yml'),
    LANES_DATA_DIR: dataDir,
    LANES_WORKER_NAME: 'demo-worker',
    PORT: '0',
    LOG_LEVEL: 'warn',
  };
}

function startLanekeeper(env: Readonly<Record<string, string | undefined>>): ChildProcess {
  const args = ['--import', import.meta.resolve('tsx'), here('../../app/cli/main.ts'), 'start'];
  // Its own group: Ctrl-C reaches the demo, and the demo ends it in order.
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
}

async function whenReady(child: ChildProcess): Promise<string> {
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('Lanekeeper did not get ready')), readyWithinMs);
    child.once('exit', (code) => reject(new Error(`Lanekeeper ended with exit code ${code}`)));
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /ready on (\S+)/.exec(line);
      if (found?.[1] === undefined) return;
      clearTimeout(timer);
      resolve(found[1]);
    });
  });
}
