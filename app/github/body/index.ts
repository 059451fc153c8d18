/**
 * Reading an issue body under a deadline and a memory limit, off the main thread. remark is superlinear on hostile input, and
 * one stranger's issue must not stop the App. One thread lives on and takes the bodies in turn; it never holds the process.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type CriteriaReading, checkBounds, readCriteria } from '../../../lanes/index.ts';
import { sibling } from '../../sibling.ts';
import type { BodyAnswer, BodyRequest } from './messages.ts';

export type Unreadable = 'too_long' | 'too_deep' | 'deadline' | 'memory' | 'crash';
export type BodyReading =
  | { kind: 'read'; reading: CriteriaReading }
  | { kind: 'unreadable'; why: Unreadable };

export type BodyLimits = {
  /** For one body, from the moment the thread gets it. */
  deadlineMs?: number;
  /** Heap of the thread. Only the call that starts the thread sets it. */
  memoryMb?: number;
};

const DEADLINE_MS = 5_000;
const MEMORY_MB = 256;
const STACK_MB = 4;
/** Loading the parser is not the body's fault, so it has a deadline of its own. */
const START_DEADLINE_MS = 60_000;

let thread: Promise<Worker> | null = null;
let queue: Promise<unknown> = Promise.resolve();

/** Read one body. Never throws for a body: what cannot be read is `unreadable`, with the reason. */
export function readBody(body: string | null, limits: BodyLimits = {}): Promise<BodyReading> {
  if (!body?.trim()) return Promise.resolve({ kind: 'read', reading: readCriteria(null) });
  const bounds = checkBounds(body);
  if (bounds.kind !== 'ok') return Promise.resolve({ kind: 'unreadable', why: bounds.kind });
  const turn = queue.then(() => readInThread(body, limits));
  queue = turn;
  return turn;
}

/** End the thread, after the bodies that wait for it. The next reading starts a new one. */
export async function closeBodyReader(): Promise<void> {
  await queue;
  const running = await thread?.catch(() => null);
  thread = null;
  await running?.terminate();
}

async function readInThread(body: string, limits: BodyLimits): Promise<BodyReading> {
  let worker: Worker;
  try {
    thread = thread ?? startThread(limits.memoryMb ?? MEMORY_MB);
    worker = await thread;
  } catch (error) {
    thread = null;
    return { kind: 'unreadable', why: whyEnded(error) };
  }
  worker.ref();
  const outcome = await ask(worker, body, limits.deadlineMs ?? DEADLINE_MS);
  worker.unref();
  if (outcome.kind === 'unreadable' && outcome.why !== 'too_deep') {
    thread = null;
    await worker.terminate();
  }
  return outcome;
}

async function startThread(memoryMb: number): Promise<Worker> {
  const { url, execArgv } = sibling(import.meta.url, 'worker');
  const worker = new Worker(url, {
    execArgv,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, stackSizeMb: STACK_MB },
  });
  // An error between two bodies is seen by the next one, which then finds the thread gone.
  worker.on('error', () => undefined);
  worker.once('exit', () => {
    thread = null;
  });
  try {
    await once(worker, 'message', { signal: AbortSignal.timeout(START_DEADLINE_MS) });
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  worker.unref();
  return worker;
}

function whyEnded(error: unknown): 'memory' | 'crash' {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash';
}

/** Give the thread one body and wait for its answer, its end, or the deadline. */
function ask(worker: Worker, body: string, deadlineMs: number): Promise<BodyReading> {
  return new Promise((resolve) => {
    const settle = (outcome: BodyReading) => {
      clearTimeout(timer);
      worker.off('message', onAnswer).off('error', onError).off('exit', onExit);
      resolve(outcome);
    };
    const onAnswer = (answer: BodyAnswer) => {
      if (answer.kind === 'read') settle({ kind: 'read', reading: answer.reading });
      else if (answer.kind === 'failed') settle({ kind: 'unreadable', why: answer.why });
    };
    const onError = (error: unknown) => {
      settle({ kind: 'unreadable', why: whyEnded(error) });
    };
    const onExit = () => {
      settle({ kind: 'unreadable', why: 'crash' });
    };
    const timer = setTimeout(() => settle({ kind: 'unreadable', why: 'deadline' }), deadlineMs);
    worker.on('message', onAnswer).on('error', onError).on('exit', onExit);
    worker.postMessage({ body } satisfies BodyRequest);
  });
}
