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
import { type Serving, serveLane } from './queue/serve.ts';
import { wakeId } from './queue/wakes.ts';
import { type HearRefusal, refusalOf, watched } from './refusals.ts';
import { repair, rewake } from './repair.ts';
import { makeSpace, type Space } from './space.ts';
import { toLaneError } from './store/answers.ts';
import { makeDeliveries } from './store/deliveries.ts';
import { makeDrainer } from './store/drainer.ts';
import { makeIntents, makeLooseEffects, makeTaskEffects } from './store/effects.ts';
import { makeIssues } from './store/issues.ts';
import { makeRefusals } from './store/refusals.ts';
import { makeTaskVerbs } from './task-verbs.ts';
import { makeTurnVerbs } from './turn-verbs.ts';
import type { Engine, TaskVerbs } from './verbs.ts';

/** How long a claim holds without being renewed, and how often it is renewed, where nobody says otherwise; in ms. */
export const usualLeaseTtlMs = 15_000;
export const usualRenewEveryMs = 5_000;

export interface EngineOptions {
  /** Opens a namespace's connection with its own credential (`openRedis`); called once a namespace, when needed. */
  connect(ns: Namespace): Redis;
  /** The namespaces that exist. */
  readonly registry: Registry;
  /** Fresh random ids of 16 to 64 characters, for leases and the store's stamp. */
  id(): string;
  /** Hears of every refused verb: who, what, where. It must not throw. */
  readonly onRefusal?: HearRefusal;
  /** How long a claim holds without being renewed, in ms. Default `usualLeaseTtlMs`. */
  readonly leaseTtlMs?: number;
  /** How often a held lease is renewed, in ms. Default `usualRenewEveryMs`. */
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
  const leaseTtlMs = options.leaseTtlMs ?? usualLeaseTtlMs;
  const parts = { ...doors, id: options.id, leaseTtlMs };
  const tasks = watched(makeTaskVerbs(parts), options.onRefusal);
  const servings = new Set<Serving>();
  const others = {
    ...makeTurnVerbs(parts),
    repair: async (caller, ns) => repair(spaceFor(caller, ns), caller.identity),
    serve: makeServeVerb(options, spaceFor, tasks.renew, leaseTtlMs, servings),
    ...makeStreamVerbs(doors),
    ...makeIntakeVerbs(parts, options.redeliverAfterMs ?? 60_000),
  } satisfies Omit<Engine, keyof TaskVerbs | 'close'>;
  return {
    ...tasks,
    ...watched(others, options.onRefusal),
    async close() {
      await Promise.all([...servings].map((serving) => serving.close()));
      await doors.close();
    },
  };
}

function makeServeVerb(
  options: EngineOptions,
  spaceFor: Doors['spaceFor'],
  renew: Engine['renew'],
  leaseTtlMs: number,
  servings: Set<Serving>,
): Engine['serve'] {
  const timings = {
    leaseTtlMs,
    renewEveryMs: options.renewEveryMs ?? usualRenewEveryMs,
    stallCheckMs: options.stallCheckMs ?? 5_000,
  };
  return async (caller, ns, serve) => {
    const space = spaceFor(caller, ns);
    const serving = serveLane(
      {
        ns,
        ...timings,
        identity: caller.identity,
        connection: space.openForWorker(),
        renew: (lease) => renew(caller, lease),
        onUnused: (task, wake) => wakeLater(space, task, wake),
        toLaneError,
      },
      serve,
    );
    servings.add(serving);
    void serving.closed.then((refusal) => {
      servings.delete(serving);
      const refused = refusalOf(refusal, caller.identity, 'serve', ns);
      if (refused !== null) options.onRefusal?.(refused);
    });
    return serving;
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
      page: async (caller, ns, after, count) => spaceFor(caller, ns).ledger.page(after, count),
      trim: async (caller, ns, upTo) => spaceFor(caller, ns).ledger.trim(upTo),
    },
  };
}

function makeIntakeVerbs(
  { spaceFor, id }: Doors & Pick<EngineOptions, 'id'>,
  redeliverAfterMs: number,
): Pick<Engine, 'issues' | 'deliveries' | 'refusals'> {
  const issuesOf = (caller: Caller): ReturnType<typeof makeIssues> =>
    makeIssues(spaceFor(caller, intakeNamespace).redis, intakeNamespace);
  const refusalsOf = (caller: Caller): ReturnType<typeof makeRefusals> =>
    makeRefusals(spaceFor(caller, intakeNamespace).redis, intakeNamespace, id);
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
    refusals: {
      record: async (caller, batch) => refusalsOf(caller).record(batch),
      read: async (caller, count) => refusalsOf(caller).read(count),
      counts: async (caller) => refusalsOf(caller).counts(),
      page: async (caller, after, count) => refusalsOf(caller).page(after, count),
      trim: async (caller, upTo) => refusalsOf(caller).trim(upTo),
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
