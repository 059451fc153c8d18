/** Lanekeeper as a person starts it: `lanekeeper start` in a process of its own, until it says that it is ready. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { GitHubStandIn } from '../fakes/github.ts';

export interface Lanekeeper {
  /** Where it listens. */
  readonly url: string;
  readonly pid: number;
  /** Resolves when it ends, whoever ended it: with its exit code, or the signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
  isOver(): boolean;
  /** Sends a signal, unless it has ended. */
  kill(signal: NodeJS.Signals): void;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What Node is told to run a command of the product that the tests' set-up made, or of another one. */
export function commandLine(args: readonly string[], command = process.env.LANEKEEPER_COMMAND): string[] {
  if (command === undefined) throw new Error('LANEKEEPER_COMMAND should name the command: see test/support');
  return [command, ...args];
}

const readyWithinMs = 60_000;

/** The variables that tie it to a stand-in. `config` is the operator's file. */
export function settingsFor(
  github: Pick<GitHubStandIn, 'appId' | 'privateKey' | 'webhookSecret' | 'url' | 'gitUrl'>,
  { config, dataDir, worker }: { config: string; dataDir: string; worker: string },
): Record<string, string> {
  return {
    APP_ID: String(github.appId),
    PRIVATE_KEY: github.privateKey,
    WEBHOOK_SECRET: github.webhookSecret,
    GITHUB_API_URL: github.url,
    GITHUB_SERVER_URL: github.gitUrl,
    LANES_CONFIG: config,
    LANES_DATA_DIR: dataDir,
    LANES_WORKER_NAME: worker,
    PORT: '0',
    LOG_LEVEL: 'warn',
  };
}

export interface StartOptions {
  /** Takes its log; without it the log is shown. */
  readonly onLog?: (text: string) => void;
  /** The path of the command, where it is not that of the tests' set-up. */
  readonly command?: string;
}

/**
 * Starts it with this environment, and resolves when it is ready.
 * @throws Error where it does not get ready.
 */
export async function startLanekeeper(
  env: Environment,
  { onLog, command }: StartOptions = {},
): Promise<Lanekeeper> {
  const args = commandLine(['start'], command);
  const stderr = onLog === undefined ? 'inherit' : 'pipe';
  // Its own group: Ctrl-C reaches the caller, who ends it in order.
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', stderr], detached: true });
  child.stderr?.on('data', (chunk: Buffer) => onLog?.(chunk.toString('utf8')));
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code ?? 0));
  });
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const kill = (signal: NodeJS.Signals) => {
    if (!isOver()) child.kill(signal);
  };
  try {
    return { url: await whenReady(child), pid: child.pid ?? 0, ended, isOver, kill };
  } catch (error) {
    kill('SIGTERM');
    await ended;
    throw error;
  }
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
