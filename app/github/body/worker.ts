/** The thread that parses issue bodies. It may run out of time or memory; the main thread then ends it. */
import { parentPort } from 'node:worker_threads';
import { readCriteria } from '../../../lanes/rules/criteria/index.ts';
import type { BodyAnswer, BodyRequest } from './messages.ts';

const port = parentPort;
if (!port) throw new Error('This module runs as a worker thread only.');

port.on('message', ({ body }: BodyRequest) => {
  port.postMessage(answer(body));
});
port.postMessage({ kind: 'ready' } satisfies BodyAnswer);

/** A stack that is too deep for the body is an answer; the thread stays usable. */
function answer(body: string): BodyAnswer {
  try {
    return { kind: 'read', reading: readCriteria(body) };
  } catch (error) {
    return { kind: 'failed', why: error instanceof RangeError ? 'too_deep' : 'crash' };
  }
}
