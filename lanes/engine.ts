/**
 * The engine: what app and workers call. Every verb names its caller and checks that the namespace is the caller's
 * before anything else; every namespace has a connection of its own. This file wires the rooms and holds no rule.
 */
import type { Redis } from 'ioredis';
import {
  authorize,
  type Caller,
  githubNamespace,
  intakeNamespace,
  isFleetQueue,
  type Namespace,
  type Registry,
} from './namespaces.ts';
import { type Serving, serveNamespace } from './queue/serve.ts';
import { wakeId } from './queue/wakes.ts';
import { repair, rewake } from './repair.ts';
import { makeSpace, type Space } from './space.ts';
import { toLaneError } from './store/answers.ts';
import { makeDeliveries } from './store/deliveries.ts';
import { makeDrainer } from './store/drainer.ts';
import { makeIntents, makeLooseEffects, makeTaskEffects } from './store/effects.ts';
import { makeIssues } from './store/issues.ts';
import { makeTaskVerbs } from './task-verbs.ts';
import type { Engine } from './verbs.ts';

export interface EngineOptions {
  /** Opens a namespace's connection with its own credential (`openRedis`); called once a namespace, when needed. */
  connect(ns: Namespace): Redis;
  /** The namespaces that exist. */
  readonly registry: Registry;
  /** Fresh random ids of 16 to 64 characters, for leases and the store's stamp. */
  id(): string;
  /** How long a claim holds without being renewed, in ms. Default 15 s. */
  readonly leaseTtlMs?: number;
  /** How often a held lease is renewed, in ms. Default 5 s. */
  readonly renewEveryMs?: number;
  /** How often wake-ups of dead workers are looked for, in ms. Default 5 s. */
  readonly stallCheckMs?: number;
  /** After how long an unfinished delivery is handed out again, in ms. Default 60 s. */
  readonly redeliverAfterMs?: number;
}

/** The caller and namespace checks, with the one connection of each namespace behind them. */
interface Doors {
  spaceFor(caller: Caller, ns: Namespace): Space;
  unscoped(caller: Caller): Namespace[];
  close(): Promise<void>;
}

function makeDoors({ connect, registry }: EngineOptions): Doors {
  const spaces = new Map<Namespace, Space>();
  return {
    spaceFor(caller, ns) {
      authorize(registry, caller, ns);
      const space = spaces.get(ns) ?? makeSpace(connect(ns), ns);
      spaces.set(ns, space);
      return space;
    },
    unscoped: ({ namespaces }) => [...namespaces].filter((ns) => registry.has(ns) && !isFleetQueue(ns)),
    close: async () => void (await Promise.all([...spaces.values()].map((space) => space.close()))),
  };
}

/** Makes an engine. Nothing is opened before the first verb. */
export function createEngine(options: EngineOptions): Engine {
  const doors = makeDoors(options);
  const { spaceFor } = doors;
  const leaseTtlMs = options.leaseTtlMs ?? 15_000;
  const verbs = makeTaskVerbs({ ...doors, id: options.id, leaseTtlMs });
  const timings = {
    leaseTtlMs,
    renewEveryMs: options.renewEveryMs ?? 5_000,
    stallCheckMs: options.stallCheckMs ?? 5_000,
  };
  const servings = new Set<Serving>();
  return {
    ...verbs,
    repair: async (caller, ns) => repair(spaceFor(caller, ns), caller.identity),
    async serve(caller, ns, serve) {
      const space = spaceFor(caller, ns);
      const serving = serveNamespace(
        {
          ns,
          ...timings,
          identity: caller.identity,
          redis: space.openForWorker(),
          renew: (lease) => verbs.renew(caller, lease),
          onUnused: (task, wake) => wakeLater(space, task, wake),
          toLaneError,
        },
        serve,
      );
      servings.add(serving);
      void serving.closed.then(() => servings.delete(serving));
      return serving;
    },
    ...makeStreamVerbs(doors),
    ...makeIntakeVerbs(doors, options.redeliverAfterMs ?? 60_000),
    async close() {
      await Promise.all([...servings].map((serving) => serving.close()));
      await doors.close();
    },
  };
}

/** A wake-up that came before its task's time is followed by another one, at that time. */
async function wakeLater(space: Space, id: string, used: string): Promise<void> {
  const task = (await space.tasks.read(id))?.task;
  if (task?.state !== 'queued' || wakeId(task) !== used) return;
  if (task.notBeforeMs > (await space.tasks.now())) await rewake(space, task);
}

function makeStreamVerbs({
  spaceFor,
}: Doors): Pick<Engine, 'effects' | 'loose' | 'intents' | 'drainer' | 'ledger'> {
  const effectsOf = (caller: Caller, ns: Namespace): ReturnType<typeof makeTaskEffects> => {
    const { redis, blocking } = spaceFor(caller, ns);
    return makeTaskEffects(redis, blocking, ns);
  };
  const looseOf = (caller: Caller): ReturnType<typeof makeLooseEffects> => {
    const { redis, blocking } = spaceFor(caller, githubNamespace);
    return makeLooseEffects(redis, blocking, githubNamespace);
  };
  const intentsOf = (caller: Caller): ReturnType<typeof makeIntents> =>
    makeIntents(spaceFor(caller, githubNamespace).redis, githubNamespace);
  const drainerOf = (caller: Caller): ReturnType<typeof makeDrainer> =>
    makeDrainer(spaceFor(caller, githubNamespace).redis, githubNamespace);
  return {
    effects: {
      read: async (caller, ns, afterId, read) => effectsOf(caller, ns).read(afterId, read),
      ack: async (caller, ns, id) => effectsOf(caller, ns).ack(id),
    },
    loose: {
      add: async (caller, effect) => looseOf(caller).add(effect),
      read: async (caller, afterId, read) => looseOf(caller).read(afterId, read),
      ack: async (caller, id) => looseOf(caller).ack(id),
    },
    intents: {
      get: async (caller, key) => intentsOf(caller).get(key),
      put: async (caller, key, value) => intentsOf(caller).put(key, value),
    },
    drainer: {
      take: async (caller, holder, ttlMs) => drainerOf(caller).take(holder, ttlMs),
      leave: async (caller, holder) => drainerOf(caller).leave(holder),
    },
    ledger: {
      read: async (caller, ns, afterId, count) => spaceFor(caller, ns).ledger.read(afterId, count),
    },
  };
}

function makeIntakeVerbs(
  { spaceFor }: Doors,
  redeliverAfterMs: number,
): Pick<Engine, 'issues' | 'deliveries'> {
  const issuesOf = (caller: Caller): ReturnType<typeof makeIssues> =>
    makeIssues(spaceFor(caller, intakeNamespace).redis, intakeNamespace);
  // One for all calls: it holds the deliveries that wait to be recorded together.
  let deliveries: ReturnType<typeof makeDeliveries> | undefined;
  const deliveriesOf = (caller: Caller): ReturnType<typeof makeDeliveries> => {
    const { redis, blocking } = spaceFor(caller, intakeNamespace);
    deliveries ??= makeDeliveries(redis, blocking, intakeNamespace, redeliverAfterMs);
    return deliveries;
  };
  return {
    issues: {
      get: async (caller, repositoryId, number) => issuesOf(caller).get(repositoryId, number),
      update: async (caller, issue, change) => issuesOf(caller).update(issue, change),
      find: async (caller, number, repository) => issuesOf(caller).find(number, repository),
      live: async (caller) => issuesOf(caller).live(),
    },
    deliveries: {
      record: async (caller, delivery) => deliveriesOf(caller).record(delivery),
      take: async (caller, take) => deliveriesOf(caller).take(caller.identity, take),
      done: async (caller, id) => deliveriesOf(caller).done(id),
      failed: async (caller, id, why) => deliveriesOf(caller).failed(id, why),
      dead: async (caller, count) => deliveriesOf(caller).dead(count),
    },
  };
}
