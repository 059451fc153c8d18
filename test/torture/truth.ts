/**
 * The truth log: agents tell it of every write that is on the disk of their copy. It lies outside of all copies, in the
 * one process of the harness that nothing kills. What was told here and cannot be found afterwards is lost.
 */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

export type WriteKind = 'create' | 'append' | 'remove' | 'replace';

/** One write that an agent acknowledged. */
export interface Acknowledged {
  readonly kind: WriteKind;
  readonly path: string;
  /** The how-manieth write of its run it is. */
  readonly n: number;
  /** When it was told, by `performance.now()`. */
  readonly atMs: number;
}

export interface Truth {
  readonly port: number;
  /** Task -> its writes in order. A task whose agent began and wrote nothing yet is in it. */
  readonly tasks: ReadonlyMap<string, readonly Acknowledged[]>;
  /** Hears of each task whose agent begins. */
  onBegin: (task: string) => void;
  /** Resolves when no agent is connected any more: all that was told has been heard. */
  silent(): Promise<void>;
  close(): Promise<void>;
}

const LINE = /^(?<task>[a-z0-9]{8,32}) (?<kind>begin|create|append|remove|replace) (?<path>\S+) (?<n>\d+)$/;

export async function openTruth(): Promise<Truth> {
  const tasks = new Map<string, Acknowledged[]>();
  const open = new Set<Socket>();
  const hear = (line: string): void => {
    const { task = '', kind, path = '', n } = LINE.exec(line)?.groups ?? {};
    // A line that was cut off by a kill is of a write that nobody acknowledged.
    if (kind === undefined) return;
    const writes = tasks.get(task) ?? [];
    tasks.set(task, writes);
    if (isWrite(kind)) writes.push({ kind, path, n: Number(n), atMs: performance.now() });
    else truth.onBegin(task);
  };
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
    createInterface({ input: socket }).on('line', hear);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the truth log has no port');
  const truth: Truth = {
    port: address.port,
    tasks,
    onBegin: () => {},
    silent: async () => {
      while (open.size > 0) await Promise.all([...open].map((socket) => once(socket, 'close')));
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return truth;
}

function isWrite(kind: string): kind is WriteKind {
  return kind !== 'begin';
}
