/** The demo's stage: the stand-in for GitHub, a repository with code in it, and Lanekeeper as a person would start it. */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noteKey } from '../../app/broker/note/index.ts';
import { type GitHubStandIn, startGitHub } from '../fakes/github.ts';
import { makeProduct } from '../support/product.ts';
import { type Environment, settingsFor, startLanekeeper } from './lanekeeper.ts';
import { noteReader } from './notes.ts';
import type { Watched } from './watch.ts';

export interface Stage {
  readonly github: GitHubStandIn;
  readonly watched: Watched;
  /** Where Lanekeeper listens. */
  readonly url: string;
  readonly dataDir: string;
  /** The path of Lanekeeper's command. */
  readonly command: string;
  /** The environment that Lanekeeper was started with. */
  readonly env: Environment;
  /** Resolves when Lanekeeper ends, whoever ended it. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const owner = 'acme';
const name = 'shop';

/**
 * Sets everything up. `env` is the environment that Lanekeeper's own variables are added to; `operatorFile` stands in for the
 * demo's operator's file.
 */
export async function openStage(env: Environment, operatorFile?: string): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-demo-'));
  const github = await startGitHub();
  const closeGitHub = async () => {
    await github.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const [command, repo] = await Promise.all([
      makeProduct(join(folder, 'product')),
      github.createRepo({ owner, name, files: await filesOf(here('./repository')) }),
    ]);
    await cp(here('./agents'), join(folder, 'agents'), { recursive: true });
    const file = operatorFile ?? (await readFile(here('./lanekeeper.yml'), 'utf8'));
    const agent = (name: string) => join(folder, 'agents', name);
    await writeFile(
      join(folder, 'lanekeeper.yml'),
      file.replaceAll('AGENT', agent('fixer.mjs')).replaceAll('SLOWPOKE', agent('slow.mjs')),
    );
    const dataDir = join(folder, 'var');
    const config = join(folder, 'lanekeeper.yml');
    const settings = { ...env, ...settingsFor(github, { config, dataDir, worker: 'demo-worker' }) };
    const { url, ended, kill } = await startLanekeeper(settings, { command });
    github.setHookUrl(`${url}/api/github/webhooks`);
    const readNote = noteReader(noteKey({ privateKeyPem: github.privateKey }), github.appId, repo.id);
    const people = github.octokit(github.people.admin.token);
    const watched = { people, owner, repo: name, readNote };
    const close = async () => {
      kill('SIGTERM');
      await ended;
      await closeGitHub();
    };
    return { github, watched, url, dataDir, command, env: settings, ended: ended.then(() => {}), close };
  } catch (error) {
    await closeGitHub();
    throw error;
  }
}

async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = async (file: string) => [relative(folder, file), await readFile(file, 'utf8')] as const;
  return Object.fromEntries(await Promise.all(files.map(read)));
}
