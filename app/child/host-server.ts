/** The host port as the server answers it: one question of a worker child, one answer, never an exception. */
import { type HostPort, type HostRequest, type HostResponse, LaneError } from '../../lanes/index.ts';

/** Answers a question, with the code of the error where it cannot. */
export async function answerHost(host: HostPort, request: HostRequest): Promise<HostResponse> {
  const { seq } = request;
  try {
    if (request.ask === 'allowed') {
      return { seq, answer: 'allowed', allowed: await host.allowed(request.lease) };
    }
    return { seq, answer: 'lookUp', lookUp: await host.lookUp(request.lease, request.query) };
  } catch (error) {
    const code = error instanceof LaneError ? error.code : 'github_failed';
    const details = error instanceof Error ? error.message : String(error);
    return { seq, answer: 'error', code, details: details.slice(0, 2_000) };
  }
}
