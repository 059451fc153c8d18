/**
 * The server: the composition root of `lanekeeper start`. It puts the rooms together - Redis, engine, door, consumer,
 * hooks, broker, keeper, scan, and the worker child - and takes them apart again in order.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  connectWith,
  createEngine,
  type Engine,
  type HostPort,
  handedSecrets,
  intakeNamespace,
  makeCaller,
  type RefusalBatch,
} from '../lanes/index.ts';
import { createBroker } from './broker/index.ts';
import { noteKeys } from './broker/note/index.ts';
import { makeNoteText } from './broker/note-text.ts';
import { type KeptWorker, keepWorker } from './child/keep-worker.ts';
import { agentNames } from './config/agent-names.ts';
import type { AppCredentials } from './config/credentials.ts';
import type { OperatorConfig } from './config/operator-file.ts';
import { networkEnvironment, type ServerConfig, workerEnvironment } from './config.ts';
import type { Fleet } from './fleet/index.ts';
import { openFleet } from './fleet/open.ts';
import { closeBodyReader } from './github/body/index.ts';
import { makeHostPort } from './github/host-port.ts';
import { makeProbot } from './github/probot.ts';
import { whoAmI } from './github/who-am-i.ts';
import { makeDesk } from './hooks/desk/make.ts';
import type { Desk } from './hooks/desk/port.ts';
import { makeApp } from './index.ts';
import { type Consumer, startConsumer } from './intake/consumer.ts';
import { createDoor, webhookPath } from './intake/door.ts';
import { listenToSmee } from './intake/smee.ts';
import { listen, localUrl, shut } from './listening.ts';
import type { Loop } from './loop.ts';
import { makeArchive } from './reconcile/archive.ts';
import { makeKeeper } from './reconcile/keeper.ts';
import { makeLabelKeeper } from './reconcile/labels.ts';
import { makeScan } from './reconcile/scan.ts';
import { makeRefusalLog, type RefusalLog } from './refusals.ts';
import { openStore, type Store } from './store.ts';

export interface ServerDeps {
  readonly config: ServerConfig;
  readonly credentials: AppCredentials;
  readonly operator: OperatorConfig;
  readonly log: Logger;
}

export interface RunningServer {
  /** Where it listens. */
  readonly url: string;
  /** Resolves with what went wrong if it cannot go on. */
  readonly failed: Promise<string>;
  /**
   * Stops intake, lets runs finish for `graceMs`, hands the rest back, and closes everything. Runs are handed back at
   * once when `hurry` aborts.
   */
  stop(graceMs: number, hurry: AbortSignal): Promise<void>;
}

const newId = (): string => randomBytes(16).toString('hex');

/** What has to be closed again, in the order in which it was opened. */
type Closers = (() => Promise<unknown>)[];

/**
 * Starts everything, and resolves when the worker serves.
 * @throws LaneError `store_unavailable`, `invalid_config` and others, with one clear line.
 */
export async function startServer(deps: ServerDeps): Promise<RunningServer> {
  const closers: Closers = [];
  try {
    return await compose(deps, closers);
  } catch (error) {
    await closeAll(closers, deps.log);
    throw error;
  }
}

/** Last opened, first closed. One that fails does not keep the others open. */
async function closeAll(closers: Closers, log: Logger): Promise<void> {
  for (const close of closers.splice(0).reverse()) {
    await close().catch((error: unknown) => log.warn({ err: error }, 'a part did not close well'));
  }
}

async function compose(deps: ServerDeps, closers: Closers): Promise<RunningServer> {
  const { config, credentials, operator, log } = deps;
  const store = await openStore(deps);
  closers.push(store.stop);
  const intake = makeCaller('app', [intakeNamespace]);
  const refusals = makeRefusalLog({
    write: (batch) => engine.refusals.record(intake, batch),
    now: Date.now,
    log,
  });
  const engine = createEngine({
    connect: connectWith(store.address, store.credentials),
    registry: operator.registry,
    id: newId,
    onRefusal: refusals.hear,
  });
  closers.push(() => engine.close(), closeBodyReader, refusals.stop);
  const probot = makeProbot({ ...credentials, apiUrl: config.apiUrl, logLevel: config.logLevel });
  const app = await whoAmI(probot, config.apiUrl);
  const secrets = secretsOf(deps);
  const desk = makeDesk({ engine, probot, app, operator, serverUrl: config.serverUrl, secrets, log });

  const loops = makeLoops(deps, engine, desk);
  await probot.load(makeApp({ desk, labels: loops.labels, changed: () => loops.broker.kick() }));
  const all: Loop[] = [loops.broker, loops.keeper, loops.scan, loops.labels];
  closers.push(() => Promise.all(all.map((loop) => loop.stop())));
  // Stopped before the broker leaves its seat, and after the worker has told its last.
  closers.push(() => loops.archive.stop());
  for (const loop of [...all, loops.archive]) loop.start();
  const host = makeHostPort(desk);
  const worker = startWorker(deps, store, host, refusals);
  let graceMs = 0;
  if (worker !== null) {
    closers.push(() => worker.stop(graceMs));
    await worker.serving;
  }
  const consumer = consume(engine, desk, (event) => probot.receive(event as never), log);
  closers.push(() => consumer.stop());
  // The door is opened last, and so closed first: nothing comes in while runs have their time to finish.
  const fleet = await openFleet({ config, operator, engine, desk, host, refused: refusals.hear, log });
  const url = await openDoor(deps, engine, desk, { ping: store.ping, fleet }, closers);
  return {
    url,
    failed: store.ended.then(() => 'Redis ended and could not be started again'),
    async stop(grace, hurry) {
      graceMs = grace;
      hurry.addEventListener('abort', () => void worker?.stop(0), { once: true });
      await closeAll(closers, log);
    },
  };
}

/** Exact words that must never appear on GitHub. */
function secretsOf(deps: ServerDeps): string[] {
  const names = agentNames(deps.operator.lanes);
  return [deps.credentials.webhookSecret, ...handedSecrets(workerEnvironment(names), names)];
}

function makeLoops(deps: ServerDeps, engine: Engine, desk: Desk) {
  const { config, credentials, operator, log } = deps;
  const namespaces = [...new Set(operator.lanes.map((lane) => lane.namespace))];
  const notes = makeNoteText({
    keys: noteKeys({ explicit: config.noteKeys, privateKey: credentials.privateKey }),
    secrets: secretsOf(deps),
  });
  const labels = makeLabelKeeper({ desk, sleep: pause });
  const broker = createBroker({ desk, engine, namespaces, notes, holder: newId(), sleep: pause });
  const archive = makeArchive({
    ...{ dataDir: config.dataDir, engine, caller: desk.caller, namespaces, seated: broker.seated },
    onError: (error) => log.error({ err: error }, 'the ledger could not be archived'),
  });
  return {
    ...{ labels, broker, archive },
    keeper: makeKeeper({ desk, engine, namespaces, grants: operator.grants }),
    scan: makeScan({ desk, labels }),
  };
}

async function openDoor(
  { config, credentials, log }: ServerDeps,
  engine: Engine,
  desk: Desk,
  { ping, fleet }: { readonly ping: () => Promise<void>; readonly fleet: Fleet },
  closers: Closers,
): Promise<string> {
  const caller = desk.caller(intakeNamespace);
  const door = createDoor({
    secret: credentials.webhookSecret,
    recordDelivery: (delivery) => engine.deliveries.record(caller, delivery),
    isReady: () => ping().then(() => true),
    now: Date.now,
    log,
    fleet,
  });
  await listen(door, config);
  closers.push(() => {
    fleet.close();
    return shut(door);
  });
  const url = localUrl(door);
  if (config.webhookProxyUrl !== null) {
    const smee = listenToSmee({ channel: config.webhookProxyUrl, target: `${url}${webhookPath}`, log });
    closers.push(() => smee.close());
  }
  return url;
}

function consume(
  engine: Engine,
  desk: Desk,
  receive: Parameters<typeof startConsumer>[0]['receive'],
  log: Logger,
): Consumer {
  const caller = desk.caller(intakeNamespace);
  return startConsumer({
    queue: {
      take: (limits) => engine.deliveries.take(caller, limits),
      done: (entry) => engine.deliveries.done(caller, entry),
      failed: async (entry, why) => void (await engine.deliveries.failed(caller, entry, why)),
    },
    receive,
    log,
  });
}

/** The local worker; null where the operator's file grants it nothing. */
function startWorker(
  deps: ServerDeps,
  store: Store,
  host: HostPort,
  refusals: RefusalLog,
): KeptWorker | null {
  const { config, operator, log } = deps;
  const { workerName } = config;
  const namespaces = operator.grants.get(workerName);
  if (namespaces === undefined) {
    log.warn(
      `No grants for ${workerName}, so no worker is started here and issues wait: name it under grants, or set LANES_WORKER_NAME.`,
    );
    return null;
  }
  const bootstrap = {
    identity: config.workerName,
    namespaces: [...namespaces],
    registry: [...operator.registry],
    lanes: [...operator.lanes],
    redis: { address: store.address, credentials: store.credentialsFor(workerName, namespaces) },
    dataDir: config.dataDir,
    hide: [...config.secretFiles],
    environment: workerEnvironment(agentNames(deps.operator.lanes)),
    networkEnvironment: networkEnvironment(),
    logLevel: config.logLevel,
  };
  const refused = (batch: RefusalBatch): void => refusals.take(batch, config.workerName);
  return keepWorker({ bootstrap, host, refused, log });
}
