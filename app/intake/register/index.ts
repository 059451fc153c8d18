/**
 * The set-up page: registers the App from `app.yml` through GitHub's manifest flow, stores its credentials, and hands
 * them on. It is a small server of its own, on the address of the door, which opens when this one has closed.
 */
import type { Server } from 'node:http';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import type { AppCredentials } from '../../config/credentials.ts';
import { ConfigError } from '../../config/problems.ts';
import { deferred } from '../../deferred.ts';
import { listen, localUrl } from '../../listening.ts';
import { makeRoutes } from './routes.ts';
import { makeGate } from './session.ts';
import { checkStorable } from './store.ts';

export interface RegisterOptions {
  readonly host: string;
  readonly port: number;
  /** Where GitHub and people reach us, where that is known. */
  readonly publicUrl: string | null;
  readonly webhookProxyUrl: string | null;
  readonly apiUrl: string;
  readonly serverUrl: string;
  readonly dataDir: string;
  /** Shows a line to whoever started us: the address with the one-time token. */
  readonly announce: (line: string) => void;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/**
 * Serves the set-up page until the App is registered and its credentials are stored.
 * @throws LaneError `invalid_config` where the address cannot be listened on or GITHUB_SERVER_URL has no pages; `disk`
 * where nothing can be stored; the signal's reason when it is aborted.
 */
export async function registerApp(options: RegisterOptions): Promise<AppCredentials> {
  if (!/^https?:/.test(options.serverUrl)) {
    throw new ConfigError([
      'GITHUB_SERVER_URL has no pages to register an App on: set APP_ID and the rest by hand.',
    ]);
  }
  options.signal.throwIfAborted();
  await checkStorable(options.dataDir);
  const gate = makeGate();
  const done = deferred<AppCredentials>();
  const app: { routes?: Hono<{ Bindings: HttpBindings }> } = {};
  const server = makeServer(
    (request, env) => app.routes?.fetch(request, env) ?? new Response(null, { status: 503 }),
  );
  await listen(server, options);
  const base = options.publicUrl ?? localUrl(server);
  app.routes = makeRoutes({ ...options, base, gate, registered: done.resolve });
  options.announce(`Register the GitHub App: open ${base}/setup?token=${gate.token}`);
  const stop = () => done.reject(options.signal.reason);
  options.signal.addEventListener('abort', stop, { once: true });
  try {
    return await done.promise;
  } finally {
    options.signal.removeEventListener('abort', stop);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

function makeServer(fetch: (request: Request, env: HttpBindings) => Response | Promise<Response>): Server {
  const serverOptions = { headersTimeout: 10_000, requestTimeout: 30_000, maxHeaderSize: 16 * 1024 };
  return createAdaptorServer({
    fetch: (request, env) => fetch(request, env as HttpBindings),
    serverOptions,
  }) as Server;
}
