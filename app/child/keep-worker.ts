/**
 * Keeps one worker child alive: starts it with a clean environment, tells it who it is, answers its questions, starts it
 * again when it dies, and ends it with us.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { type HostPort, noteWorkerKill, type RefusalBatch } from '../../lanes/index.ts';
import { type Deferred, deferred } from '../deferred.ts';
import { sibling } from '../sibling.ts';
import { answerHost } from './host-server.ts';
import { type Bootstrap, type FromWorker, fromWorkerSchema, type ToWorker } from './messages.ts';

export interface WorkerDeps {
  readonly bootstrap: Bootstrap;
  readonly host: HostPort;
  /** Hears of what the worker was refused. */
  readonly refused: (batch: RefusalBatch) => void;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

export interface KeptWorker {
  /** Resolves when a worker first serves; rejects when it says that it cannot. */
  readonly serving: Promise<void>;
  /** Lets runs finish for `graceMs`, then hands them back; resolves when the child is gone. */
  stop(graceMs: number): Promise<void>;
  /** The child's pid, while there is one. */
  pid(): number | undefined;
}

const restartAfterMs = 1_000;
/** Beyond the grace: capturing what runs have done takes a while. */
const captureWithinMs = 30_000;

export function keepWorker(deps: WorkerDeps): KeptWorker {
  let child: ChildProcess | undefined;
  let restart: NodeJS.Timeout | undefined;
  let stopping = false;
  const first = deferred<void>();

  const start = (): void => {
    child = spawnWorker(deps, first);
    child.once('exit', (code, signal) => {
      child = undefined;
      if (stopping) return;
      deps.log.warn({ code, signal }, 'the worker ended; starting it again');
      restart = setTimeout(start, restartAfterMs);
    });
  };
  start();

  return {
    serving: first.promise,
    pid: () => child?.pid,
    async stop(graceMs) {
      stopping = true;
      clearTimeout(restart);
      const last = child;
      if (last === undefined) return;
      const ended = new Promise<void>((resolve) => last.once('exit', () => resolve()));
      say(last, { say: 'stop', graceMs });
      const late = () => void killWorker(deps, last, 'SIGKILL', 'it did not end in time');
      const timer = setTimeout(late, graceMs + captureWithinMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

function spawnWorker(deps: WorkerDeps, first: Deferred<void>): ChildProcess {
  const module = sibling(import.meta.url, '../worker');
  const child = fork(fileURLToPath(module.url), {
    execArgv: module.execArgv,
    env: { ...deps.bootstrap.environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Its own group: Ctrl-C at a terminal reaches us only, and we end it in order.
    detached: true,
  });
  child.on('error', (error) => deps.log.error({ err: error }, 'the worker could not be started'));
  child.on('message', (raw) => {
    const parsed = fromWorkerSchema.safeParse(raw);
    if (parsed.success) void hear(deps, child, parsed.data, first);
    else deps.log.error({ problem: parsed.error.message }, 'the worker said something that is no message');
  });
  say(child, { say: 'begin', bootstrap: deps.bootstrap });
  return child;
}

/** What it was kept for stands in the ledger before the signal; a disk that takes no line does not save it. */
async function killWorker(
  { bootstrap, log }: WorkerDeps,
  child: ChildProcess,
  signal: NodeJS.Signals,
  why: string,
): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const kill = { pid, instance: bootstrap.identity, signal, why, atMs: Date.now() };
  await noteWorkerKill(bootstrap.dataDir, kill).catch((error: unknown) =>
    log.warn({ err: error, ...kill }, 'a kill of the worker could not be written down'),
  );
  child.kill(signal);
}

async function hear(
  deps: WorkerDeps,
  child: ChildProcess,
  message: FromWorker,
  first: Deferred<void>,
): Promise<void> {
  const { host, log, refused } = deps;
  switch (message.say) {
    case 'serving':
      log.info({ pid: child.pid, containment: message.containment }, 'the worker serves');
      first.resolve();
      return;
    case 'refused':
      refused(message.batch);
      return;
    case 'unable':
      log.error({ why: message.why }, 'the worker cannot serve');
      first.reject(new Error(message.why));
      // What kept it may pass, a full disk say. Started again it tries again; idle it would never.
      await killWorker(deps, child, 'SIGTERM', message.why);
      return;
    case 'ask':
      say(child, { say: 'answer', response: await answerHost(host, message.request) });
  }
}

/** A child that is gone hears nothing; its exit is seen elsewhere. */
function say(child: ChildProcess, message: ToWorker): void {
  if (child.connected) child.send(message, () => {});
}
