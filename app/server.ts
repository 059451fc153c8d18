/**
 * The server: the composition root of `lanekeeper start`. It puts the rooms together - Redis, engine, door, consumer,
 * hooks, broker, keeper, scan, and the worker child - and takes them apart again in order.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  admitsAnybody,
  checkRedis,
  createEngine,
  type Engine,
  handedSecrets,
  intakeNamespace,
  keepEmbeddedRedis,
  openRedis,
} from '../lanes/index.ts';
import { createBroker } from './broker/index.ts';
import { noteKeys } from './broker/note/index.ts';
import { makeNoteText } from './broker/note-text.ts';
import { type KeptWorker, keepWorker } from './child/keep-worker.ts';
import type { AppCredentials } from './config/credentials.ts';
import type { OperatorConfig } from './config/operator-file.ts';
import { networkEnvironment, type ServerConfig, workerEnvironment } from './config.ts';
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
import { makeKeeper } from './reconcile/keeper.ts';
import { makeLabelKeeper } from './reconcile/labels.ts';
import { makeScan } from './reconcile/scan.ts';

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
  const store = await openStore(config, log);
  closers.push(store.stop);
  const engine = createEngine({
    connect: () => openRedis(store.url),
    registry: operator.registry,
    id: newId,
  });
  closers.push(() => engine.close(), closeBodyReader);
  const probot = makeProbot({ ...credentials, apiUrl: config.apiUrl, logLevel: config.logLevel });
  const app = await whoAmI(probot, config.apiUrl);
  const secrets = secretsOf(deps);
  const desk = makeDesk({ engine, probot, app, operator, serverUrl: config.serverUrl, secrets, log });

  const loops = makeLoops(deps, engine, desk);
  await probot.load(makeApp({ desk, labels: loops.labels, changed: () => loops.broker.kick() }));
  const all: Loop[] = [loops.broker, loops.keeper, loops.scan, loops.labels];
  closers.push(() => Promise.all(all.map((loop) => loop.stop())));
  for (const loop of all) loop.start();
  const worker = startWorker(deps, store.url, desk);
  let graceMs = 0;
  if (worker !== null) {
    closers.push(() => worker.stop(graceMs));
    await worker.serving;
  }
  const consumer = consume(engine, desk, (event) => probot.receive(event as never), log);
  closers.push(() => consumer.stop());
  // The door is opened last, and so closed first: nothing comes in while runs have their time to finish.
  const url = await openDoor(deps, engine, desk, () => checkRedis(store.url), closers);
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

interface Store {
  readonly url: string;
  stop(): Promise<void>;
  /** Resolves when a Redis of ours is gone for good; never for another one. */
  readonly ended: Promise<void>;
}

async function openStore({ redisUrl, dataDir }: ServerConfig, log: Logger): Promise<Store> {
  if (redisUrl === null) {
    const onDeath = () => log.warn('Redis ended; starting it again');
    return keepEmbeddedRedis({ dataDir, onDeath });
  }
  await checkRedis(redisUrl);
  if (await admitsAnybody(redisUrl)) {
    log.warn(
      'LANES_REDIS_URL: this Redis asks for no password, so an agent that can reach it can change everything.',
    );
  }
  return { url: redisUrl, stop: async () => {}, ended: new Promise(() => {}) };
}

/** The variables that lanes hand to their agents. */
function agentNames({ operator }: ServerDeps): string[] {
  return operator.lanes.flatMap(({ agent }) => (agent.kind === 'command' ? agent.env : []));
}

/** Exact words that must never appear on GitHub. */
function secretsOf(deps: ServerDeps): string[] {
  const names = agentNames(deps);
  return [deps.credentials.webhookSecret, ...handedSecrets(workerEnvironment(names), names)];
}

function makeLoops(deps: ServerDeps, engine: Engine, desk: Desk) {
  const { config, credentials, operator } = deps;
  const namespaces = [...new Set(operator.lanes.map((lane) => lane.namespace))];
  const notes = makeNoteText({
    keys: noteKeys({ explicit: config.noteKeys, privateKey: credentials.privateKey }),
    secrets: secretsOf(deps),
  });
  const labels = makeLabelKeeper({ desk, sleep: pause });
  return {
    labels,
    broker: createBroker({ desk, engine, namespaces, notes, holder: newId(), sleep: pause }),
    keeper: makeKeeper({ desk, engine, namespaces }),
    scan: makeScan({ desk, labels }),
  };
}

async function openDoor(
  { config, credentials, log }: ServerDeps,
  engine: Engine,
  desk: Desk,
  ping: () => Promise<void>,
  closers: Closers,
): Promise<string> {
  const caller = desk.caller(intakeNamespace);
  const door = createDoor({
    secret: credentials.webhookSecret,
    recordDelivery: (delivery) => engine.deliveries.record(caller, delivery),
    isReady: () => ping().then(() => true),
    now: Date.now,
    log,
  });
  await listen(door, config);
  closers.push(() => shut(door));
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
function startWorker(deps: ServerDeps, redisUrl: string, desk: Desk): KeptWorker | null {
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
    redisUrl,
    dataDir: config.dataDir,
    hide: [...config.secretFiles],
    environment: workerEnvironment(agentNames(deps)),
    networkEnvironment: networkEnvironment(),
    logLevel: config.logLevel,
  };
  return keepWorker({ bootstrap, host: makeHostPort(desk), log });
}
