/** The line between a box and its App: HTTP passed on as it is, which a test may watch, cut, or let hang. */
import { once } from 'node:events';
import { request as call, createServer, type IncomingMessage } from 'node:http';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

export interface Line {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** Calls for which this holds get no answer, and are not passed on; null: all are. */
  hang(which: ((seen: Seen) => boolean) | null): void;
  /** While cut, every call is broken off. */
  cut(on: boolean): void;
  /** From now on, only what comes is seen. */
  forget(): void;
  close(): Promise<void>;
}

export async function openLine(app: string): Promise<Line> {
  const seen: Seen[] = [];
  let hangs: ((seen: Seen) => boolean) | null = null;
  let isCut = false;
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const one = { method, path: url, headers };
    seen.push(one);
    if (isCut) return void incoming.destroy();
    if (hangs?.(one)) return void incoming.resume();
    const onward = call(`${app}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    hang: (which) => {
      hangs = which;
    },
    cut(on) {
      isCut = on;
      if (on) server.closeAllConnections();
    },
    forget: () => void seen.splice(0),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
