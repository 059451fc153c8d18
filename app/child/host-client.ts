/** The host port as a worker child sees it: each question crosses to the server by IPC and waits for its answer. */
import {
  type HostPort,
  type HostRequest,
  type HostResponse,
  isLaneErrorCode,
  LaneError,
} from '../../lanes/index.ts';

export interface HostClient extends HostPort {
  /** Takes an answer of the server's. One that nobody waits for is left alone. */
  take(response: HostResponse): void;
  /** The server is gone: every question fails. */
  hangUp(): void;
}

type Question = HostRequest extends infer One ? (One extends HostRequest ? Omit<One, 'seq'> : never) : never;

/** The server reads GitHub for an answer, with retries for limits; after this long it is taken for hung. */
const answerWithinMs = 120_000;

/** @param send puts a request on its way */
export function makeHostClient(send: (request: HostRequest) => void): HostClient {
  const waiting = new Map<number, { resolve(response: HostResponse): void; reject(error: Error): void }>();
  let next = 0;
  let gone = false;

  const ask = async (question: Question): Promise<HostResponse> => {
    if (gone) throw new LaneError('github_failed', 'the App is gone');
    const seq = next++;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<HostResponse>((resolve, reject) => {
        waiting.set(seq, { resolve, reject });
        timer = setTimeout(
          () => reject(new LaneError('github_failed', 'the App did not answer')),
          answerWithinMs,
        );
        send({ ...question, seq });
      });
    } finally {
      clearTimeout(timer);
      waiting.delete(seq);
    }
  };

  return {
    async allowed(lease) {
      const response = await ask({ ask: 'allowed', lease });
      if (response.answer === 'allowed') return response.allowed;
      throw failure(response);
    },
    async lookUp(lease, query) {
      const response = await ask({ ask: 'lookUp', lease, query });
      if (response.answer === 'lookUp') return response.lookUp;
      throw failure(response);
    },
    take: (response) => waiting.get(response.seq)?.resolve(response),
    hangUp() {
      gone = true;
      for (const { reject } of waiting.values()) reject(new LaneError('github_failed', 'the App is gone'));
    },
  };
}

function failure(response: HostResponse): LaneError {
  if (response.answer !== 'error') return new LaneError('github_failed', 'the App answered something else');
  const { code, details } = response;
  return isLaneErrorCode(code)
    ? new LaneError(code, details)
    : new LaneError('github_failed', `${code}: ${details}`);
}
