/** The gate: agents ask it for leave to go on, so that a test can act while one runs, and see when one is gone. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

export interface Gate {
  readonly url: string;
  /** From now on, agents of this issue wait. */
  hold(issue: number): void;
  /** Agents of this issue go on, also those that come later. */
  release(issue: number): void;
  /** The runs whose agents wait now. */
  waiting(issue: number): number[];
  /** The runs whose agents ever came, in order. */
  seen(issue: number): number[];
  close(): Promise<void>;
}

interface Waiting {
  readonly issue: number;
  readonly run: number;
  readonly response: ServerResponse;
}

export async function openGate(): Promise<Gate> {
  const held = new Set<number>();
  const asked: { issue: number; run: number }[] = [];
  const waiting = new Set<Waiting>();
  const server = createServer((request, response) => {
    const [, issue, run] = (request.url ?? '').split('/').map(Number);
    const one = { issue: issue ?? 0, run: run ?? 0, response };
    asked.push(one);
    if (!held.has(one.issue)) return void response.end();
    waiting.add(one);
    response.once('close', () => waiting.delete(one));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const runs = (of: Iterable<{ issue: number; run: number }>, issue: number) =>
    [...of].filter((one) => one.issue === issue).map(({ run }) => run);
  return {
    url: `http://127.0.0.1:${port}`,
    hold: (issue) => void held.add(issue),
    release(issue) {
      held.delete(issue);
      for (const one of waiting) if (one.issue === issue) one.response.end();
    },
    waiting: (issue) => runs(waiting, issue),
    seen: (issue) => runs(asked, issue),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
