/**
 * What the rooms of one running stand-in share, and how it is put together.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { AppBook } from './apps.ts';
import type { JsonObject } from './call.ts';
import { Hooks } from './hooks.ts';
import { makePeople, organizations, type People } from './people.ts';
import { Reactions } from './reactions.ts';
import { RepoBook } from './repos.ts';
import { botSeed, makeKey, slotSeed } from './slots.ts';
import { startUpstream, type Upstream } from './upstream.ts';

export interface World {
  /** Where the stand-in listens, without a slash at the end. */
  url: string;
  upstream: Upstream;
  people: People;
  apps: AppBook;
  repos: RepoBook;
  reactions: Reactions;
  hooks: Hooks;
  /** The private key that emulate trusts for every App. */
  innerKey: string;
  now: () => number;
  /** A fresh random text of 40 hexadecimal digits. */
  secret: () => string;
  /** Runs changes one after the other, so that what is told follows the order of what was done. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

/** Starts emulate with the people, owners and slots. @param address filled in once the proxy listens. */
export async function makeWorld(now: () => number, address: { url: string }): Promise<World> {
  const secret = () => randomBytes(20).toString('hex');
  const people = makePeople(secret);
  const owners = [...organizations, ...Object.values(people).map((person) => person.login)];
  const apps = new AppBook({ owners, now, secret });
  const innerKey = makeKey();
  const upstream = await startUpstream(seedOf(people, owners, innerKey), {
    pairs: () => apps.apps.map((app) => [app.slot, app.slug]),
    publicHost: () => new URL(address.url).host,
  });
  return {
    get url() {
      return address.url;
    },
    upstream,
    people,
    apps,
    repos: new RepoBook(),
    reactions: new Reactions(),
    hooks: new Hooks({ now, guid: randomUUID }),
    innerKey,
    now,
    secret,
    inTurn: makeTurns(),
  };
}

/** emulate's seed. Its first user is the one it takes for the proxy's own reads: the admin. */
function seedOf(people: People, owners: string[], innerKey: string): JsonObject {
  const all = Object.values(people);
  const users = all.map(({ login }) => ({ login, name: login, email: `${login}@example.test` }));
  const members = [{ login: people.admin.login, role: 'admin' }];
  return {
    tokens: Object.fromEntries(all.map(({ token, login }) => [token, { login }])),
    github: {
      users: [...users, ...botSeed()],
      orgs: organizations.map((login) => ({ login, members })),
      apps: slotSeed(innerKey, owners),
    },
  };
}

function makeTurns(): World['inTurn'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}
