/** Reading a request's body with a cap on each and on all together, so that uploads cannot fill the memory. */
import type { IncomingMessage } from 'node:http';

/** GitHub's payloads stop at 25 MB. */
export const maxBodyBytes = 25 * 1024 * 1024;
/** All bodies that are being read or recorded at one time. */
const maxBytesInFlight = 64 * 1024 * 1024;

/** What one request has taken of the bytes in flight. */
export interface Share {
  /** Whether `bytes` more may be held. */
  take(bytes: number): boolean;
  /** Gives everything back; once, when the request is answered. */
  release(): void;
}

/** The budget of one server. */
export function makeByteBudget(limit: number = maxBytesInFlight): { share(): Share } {
  let inFlight = 0;
  return {
    share() {
      let own = 0;
      return {
        take(bytes) {
          if (inFlight + bytes > limit) return false;
          inFlight += bytes;
          own += bytes;
          return true;
        },
        release() {
          inFlight -= own;
          own = 0;
        },
      };
    },
  };
}

export type BodyReading =
  | { kind: 'body'; bytes: Buffer }
  | { kind: 'too_large' }
  | { kind: 'busy' }
  /** The client went away: there is nobody to answer. */
  | { kind: 'aborted' };

/**
 * Reads a body. What is over a limit is drained unseen, so that the client can finish sending and read the answer; the
 * server's request timeout bounds how long.
 */
export function readBody(request: IncomingMessage, share: Share): Promise<BodyReading> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (reading: BodyReading) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      request.resume();
      resolve(reading);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBodyBytes) settle({ kind: 'too_large' });
      else if (!share.take(chunk.length)) settle({ kind: 'busy' });
      else chunks.push(chunk);
    };
    const onEnd = () => settle({ kind: 'body', bytes: Buffer.concat(chunks, size) });
    const onClose = () => settle({ kind: 'aborted' });
    // An error of the request is followed by `close`; without a listener it would end the process.
    request.on('error', () => {});
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}
