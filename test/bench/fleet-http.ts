/**
 * `fleet_http`: how many tasks a second boxes claim and complete over HTTP at concurrency 16, against a bare Hono handler
 * of the same server library that does the same two BullMQ calls. Both run at the same time, each in its own process with
 * its own Redis, and are loaded in turns. GitHub has no part in it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { met, result } from '../support/tasks.ts';
import type { BenchRow } from './row.ts';
import { sideBySide } from './side-by-side.ts';

const concurrency = 16;
/** A round's rate moves by a fifth with the machine; the medians of this many stand still. */
const rounds = 21;
const tasksARound = 400;
const warmUpTasks = 1_600;

interface Side {
  readonly child: ChildProcess;
  readonly port: number;
  readonly token: string;
  /** One task, from its claim to its end. */
  cycle(side: Side, agent: Agent): Promise<void>;
}

/** Takes about 20 seconds on a quiet machine. */
export async function benchFleetHttp(): Promise<BenchRow[]> {
  const sides = await Promise.all([start('ours', ourCycle), start('peer', peerCycle)]);
  try {
    for (const side of sides) await round(side, warmUpTasks);
    const [ours, peer] = sides;
    const row = { name: 'fleet_http', unit: 'tasks/s', bound: 'ratio >= 0.6' };
    return [
      await sideBySide(
        row,
        rounds,
        () => round(ours, tasksARound),
        () => round(peer, tasksARound),
      ),
    ];
  } finally {
    await Promise.all(sides.map(stop));
  }
}

async function start(kind: 'ours' | 'peer', cycle: Side['cycle']): Promise<Side> {
  const script = new URL('./fleet-server.ts', import.meta.url);
  const child = fork(script, [kind], { execArgv: ['--import', import.meta.resolve('tsx')] });
  const [{ port, token }] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the server ${kind} ended with ${code}`))),
  ]);
  return { child, port, token, cycle };
}

async function stop({ child }: Side): Promise<void> {
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}

/** Tasks a second; adding them is not measured. */
async function round(side: Side, count: number): Promise<number> {
  const added = once(side.child, 'message');
  side.child.send(count);
  await added;
  // New connections for each round: the server ends those that were idle meanwhile.
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  let left = count;
  const busy = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await side.cycle(side, agent);
    }
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: concurrency }, busy));
  const rate = (count * 1_000) / (performance.now() - startMs);
  agent.destroy();
  return rate;
}

const end = result([met('c1')], { summary: 'It is done; the unit tests show it.' });
const claimBody = JSON.stringify({ namespace: 'agent:42' });

async function ourCycle(side: Side, agent: Agent): Promise<void> {
  const { lease } = await post(side, agent, '/fleet/v1/claim', claimBody);
  await post(side, agent, `/fleet/v1/leases/${lease}/complete`, JSON.stringify({ end }));
}

async function peerCycle(side: Side, agent: Agent): Promise<void> {
  const { lease } = await post(side, agent, '/claim', claimBody);
  await post(side, agent, '/complete', JSON.stringify({ lease, end }));
}

function post(side: Side, agent: Agent, path: string, body: string): Promise<{ lease?: string }> {
  const { port, token } = side;
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`${path}: ${response.statusCode} ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
