/**
 * `webhook_ack`: how many webhooks a second are answered at concurrency 32, our durable 202 against a bare Probot app
 * with an empty handler. Both run at the same time, each in its own process, and are loaded in turns.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Webhooks } from '@octokit/webhooks';
import { webhookPath } from '../../app/intake/door.ts';
import type { BenchRow } from './row.ts';
import { median } from './side-by-side.ts';

const concurrency = 32;
const rounds = 7;
const roundMs = 400;
/** Both are far slower before their code is compiled: about 3,000 requests. */
const warmUpRequests = 3_000;
const warmUpMs = 5_000;

interface Round {
  perSecond: number;
  latenciesMs: number[];
}

/** Takes about 8 seconds on a quiet machine. The 99th percentiles go to stderr. */
export async function benchWebhookAck(): Promise<BenchRow[]> {
  const secret = randomBytes(20).toString('hex');
  const body = JSON.stringify(labeled());
  const signature = await new Webhooks({ secret }).sign(body);
  const servers = await Promise.all([start('ours', secret), start('peer', secret)]);
  try {
    const results: [Round[], Round[]] = [[], []];
    for (const { port } of servers) await load(port, body, signature, warmUpMs, warmUpRequests);
    for (let round = 0; round < rounds; round += 1) {
      for (const side of [0, 1] as const) {
        results[side].push(await load(servers[side].port, body, signature, roundMs));
      }
    }
    return [report(...results)];
  } finally {
    await Promise.all(servers.map(({ child }) => stop(child)));
  }
}

function report(oursRounds: Round[], peerRounds: Round[]): BenchRow {
  const [ours, peer] = [oursRounds, peerRounds].map((some) => median(some.map((round) => round.perSecond)));
  const [p99, peerP99] = [oursRounds, peerRounds].map((some) =>
    percentile99(some.flatMap((one) => one.latenciesMs)),
  );
  console.error(`webhook_ack: p99 ${p99?.toFixed(1)} ms, bare Probot ${peerP99?.toFixed(1)} ms`);
  return row(ours ?? 0, peer ?? 0);
}

function row(ours: number, peer: number): BenchRow {
  const ratio = peer === 0 ? null : Number((ours / peer).toFixed(3));
  return {
    name: 'webhook_ack',
    ours: Math.round(ours),
    peer: Math.round(peer),
    unit: 'requests/s',
    ratio,
    bound: '>= 0.8',
  };
}

async function start(kind: 'ours' | 'peer', secret: string): Promise<{ child: ChildProcess; port: number }> {
  const script = new URL('./webhook-server.ts', import.meta.url);
  const child = fork(script, [kind, secret], { execArgv: ['--import', import.meta.resolve('tsx')] });
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the server ${kind} ended with ${code}`))),
  ]);
  return { child, port: message.port };
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}

/** Keeps `concurrency` connections busy for `ms`, or for so many requests. The client is raw on purpose: it must not be what is measured. */
async function load(
  port: number,
  body: string,
  signature: string,
  ms: number,
  requests = Number.POSITIVE_INFINITY,
): Promise<Round> {
  const latenciesMs: number[] = [];
  const start = performance.now();
  const isOn = () => performance.now() - start < ms && latenciesMs.length < requests;
  const worker = () => keepBusy(port, body, signature, isOn, latenciesMs);
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { perSecond: (latenciesMs.length * 1_000) / (performance.now() - start), latenciesMs };
}

function keepBusy(
  port: number,
  body: string,
  signature: string,
  isOn: () => boolean,
  latenciesMs: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(requestText(body, signature));
    };
    socket.setNoDelay(true);
    socket.on('connect', send).on('error', reject);
    // Both servers answer in one small packet.
    socket.on('data', (chunk) => {
      const status = chunk.toString('latin1', 9, 12);
      if (!status.startsWith('20')) return reject(new Error(`answered ${status}`));
      latenciesMs.push(performance.now() - sentAt);
      if (isOn()) return send();
      socket.destroy();
      resolve();
    });
  });
}

function requestText(body: string, signature: string): string {
  return [
    `POST ${webhookPath} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    'User-Agent: GitHub-Hookshot/0000000',
    `X-GitHub-Delivery: ${randomUUID()}`,
    'X-GitHub-Event: issues',
    `X-Hub-Signature-256: ${signature}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

/** A payload of the size that GitHub sends for a labelled issue: about 12 KB. */
function labeled() {
  const links = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `link_${index}_url`,
      `https://api.github.com/repos/acme/widgets/thing/${index}`,
    ]),
  );
  const label = { id: 1, name: 'lane:triage', color: 'ededed', default: false, description: null };
  return {
    action: 'labeled',
    label,
    issue: { id: 1, number: 7, title: 'A title', body: '- [ ] one\n'.repeat(200), labels: [label], ...links },
    repository: { id: 1, full_name: 'acme/widgets', ...links },
    installation: { id: 1 },
    sender: { login: 'maria', id: 2, ...links },
  };
}

function percentile99(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;
}
