/** Lanekeeper's other commands, each as a process of its own, as a person beside `start` would type them. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { execa } from 'execa';
import { commandLine, type Environment } from './lanekeeper.ts';
import type { Stage } from './stage.ts';

/** Runs a command to its end, with the server's environment, and answers with its stdout. */
export async function lanekeeper(
  { env, command }: Pick<Stage, 'env' | 'command'>,
  ...args: string[]
): Promise<string> {
  const { stdout } = await execa(process.execPath, commandLine(args, command), {
    env,
    extendEnv: false,
    timeout: 60_000,
  });
  return stdout;
}

export interface Box {
  /** Where its copies and patches lie. */
  readonly dataDir: string;
  /** Lets it go in order, and resolves when it is gone. */
  stop(): Promise<void>;
  /** Ends it as a crash would, and resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts a box for one task: it knows the App's address and its own token, and nothing of Redis or GitHub. */
export function startBox(stage: Stage, name: string, token: string, namespace: string): Box {
  const { PATH, HOME } = stage.env;
  const dataDir = join(stage.dataDir, '..', name);
  const env: Environment = {
    ...{ PATH, HOME, LANES_APP_URL: stage.url, LANES_WORKER_TOKEN: token, LOG_LEVEL: 'warn' },
    ...{ LANES_WORKER_NAME: name, LANES_DATA_DIR: dataDir },
  };
  const child = spawn(process.execPath, commandLine(['box', '--as', namespace, '--once'], stage.command), {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  return { dataDir, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}
