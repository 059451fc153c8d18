import { describe, expect, it } from 'vitest';
import { type HostClient, makeHostClient } from '../../../app/child/host-client.ts';
import { answerHost } from '../../../app/child/host-server.ts';
import { toWorkerSchema } from '../../../app/child/messages.ts';
import { LaneError } from '../../../lanes/errors.ts';
import { type HostPort, hostRequestSchema } from '../../../lanes/index.ts';
import { parseNamespace } from '../../../lanes/namespaces.ts';

const lease = {
  namespace: parseNamespace('lane:triage'),
  task: 'task00000001',
  run: 1,
  fence: 1,
  id: 'a'.repeat(32),
  worker: 'worker-a',
  epoch: 'epoch',
  endsAtMs: 1,
};

/** A client whose questions travel as JSON to a server with this host port, and back. */
function connected(host: HostPort): HostClient {
  const client: HostClient = makeHostClient((request) => {
    const heard = hostRequestSchema.parse(JSON.parse(JSON.stringify(request)));
    void answerHost(host, heard).then((response) => {
      const message = toWorkerSchema.parse(JSON.parse(JSON.stringify({ say: 'answer', response })));
      if (message.say === 'answer') client.take(message.response);
    });
  });
  return client;
}

const never = (): Promise<never> => Promise.reject(new Error('not asked in this test'));

describe('the host port over IPC', () => {
  it('gives each question its own answer, in whatever order they come', async () => {
    const waiting: (() => void)[] = [];
    const client = connected({
      allowed: never,
      lookUp: async (_, query) => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return { found: query.kind === 'commit', how: query.kind };
      },
    });
    const first = client.lookUp(lease, { kind: 'commit', sha: 'abcdef1' });
    const second = client.lookUp(lease, { kind: 'pull', number: 2 });
    for (const go of waiting.reverse()) go();
    expect(await first).toEqual({ found: true, how: 'commit' });
    expect(await second).toEqual({ found: false, how: 'pull' });
  });

  it('carries the code of a refusal', async () => {
    const client = connected({
      allowed: () => Promise.reject(new LaneError('lease_lost', 'gone')),
      lookUp: never,
    });
    await expect(client.allowed(lease)).rejects.toMatchObject({ code: 'lease_lost', retryable: false });
  });

  it('calls any other failure one of GitHub, which may pass', async () => {
    const client = connected({ allowed: () => Promise.reject(new TypeError('oops')), lookUp: never });
    await expect(client.allowed(lease)).rejects.toMatchObject({ code: 'github_failed', retryable: true });
  });

  it('fails what waits, and all that comes, when the App is gone', async () => {
    const client = makeHostClient(() => {});
    const waiting = client.allowed(lease);
    client.hangUp();
    await expect(waiting).rejects.toMatchObject({ code: 'github_failed' });
    await expect(client.allowed(lease)).rejects.toMatchObject({ code: 'github_failed' });
  });

  it('takes an answer that nobody waits for without harm', () => {
    const client = makeHostClient(() => {});
    client.take({ seq: 7, answer: 'lookUp', lookUp: { found: true, how: '' } });
  });
});
