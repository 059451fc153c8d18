/**
 * How we reach GitHub's API: one client for each installation, and one for the App itself. Every request has a
 * deadline and no client retries: who asks decides whether asking again is safe, since a POST that failed may have
 * happened.
 */
import type { Probot } from 'probot';
import { statusOf } from './failure.ts';

/** An answer of the API, of which nothing is believed before it is parsed. */
export interface Reply {
  readonly status: number;
  readonly data: unknown;
  readonly headers: { readonly [name: string]: string | number | undefined };
  /** Where the answer came from, after redirects. */
  readonly url: string;
}

export type Parameters = Readonly<Record<string, unknown>>;

/** The one method that we use of an Octokit. */
export interface Client {
  request(route: string, parameters?: Parameters): Promise<Reply>;
}

/** Clients by whose rights they have. */
export interface Clients {
  app(): Promise<Client>;
  installation(id: number): Promise<Client>;
}

const deadlineMs = 20_000;
const maxClients = 1_000;

function bounded(octokit: Client): Client {
  return {
    request: (route, parameters = {}) =>
      octokit.request(route, {
        ...parameters,
        request: { retries: 0, signal: AbortSignal.timeout(deadlineMs) },
      }),
  };
}

/**
 * A client whose token may have died with its installation: Probot keeps tokens for an hour, and a dead one is answered
 * 401. Whether the installation is still there is asked as the App; where it is not, that 404 is the answer.
 */
function whileInstalled(client: Client, app: () => Promise<Client>, id: number): Client {
  return {
    async request(route, parameters) {
      try {
        return await client.request(route, parameters);
      } catch (error) {
        if (statusOf(error) === 401) {
          await (await app()).request('GET /app/installations/{installation_id}', { installation_id: id });
        }
        throw error;
      }
    },
  };
}

/**
 * Clients of a Probot. They come from `probot.auth`, never from an event's context: the latter shares one throttle
 * across installations. Tokens are minted and renewed by Probot.
 */
export function clientsOf(probot: Pick<Probot, 'auth'>): Clients {
  const known = new Map<number, Promise<Client>>();
  const make = async (id?: number): Promise<Client> => {
    const octokit = await probot.auth(id);
    return bounded({ request: (route, parameters) => octokit.request(route, parameters) });
  };
  const app = (): Promise<Client> => make();
  return {
    app,
    installation(id) {
      const found = known.get(id);
      if (found) return found;
      if (known.size >= maxClients) known.clear();
      const made = make(id).then((client) => whileInstalled(client, app, id));
      known.set(id, made);
      made.catch(() => known.delete(id));
      return made;
    },
  };
}
