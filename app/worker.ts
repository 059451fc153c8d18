/**
 * The worker child: serves the namespaces that it is granted. It is told over IPC who it is; it holds no credential of
 * GitHub and asks the App for what it needs from there. It ends when the App does.
 */
import { randomBytes } from 'node:crypto';
import pino, { type Logger } from 'pino';
import {
  connectWith,
  createEngine,
  type Lease,
  makeCaller,
  openWorkplace,
  probeContainment,
  type RefusalBatch,
  type RunningWorker,
  runWorker,
  superviseRun,
  type Workplace,
} from '../lanes/index.ts';
import { type HostClient, makeHostClient } from './child/host-client.ts';
import { type Bootstrap, type FromWorker, toWorkerSchema } from './child/messages.ts';
import { keepSwept } from './keep-swept.ts';
import { makeRefusalLog } from './refusals.ts';
import { agentGraceMs, promptTemplate } from './work-settings.ts';

const newId = (): string => randomBytes(16).toString('hex');

function say(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}

interface Served {
  readonly worker: RunningWorker;
  readonly containment: string;
  close(): Promise<void>;
}

async function serve(
  bootstrap: Bootstrap,
  host: HostClient,
  log: Logger,
  stop: AbortSignal,
): Promise<Served> {
  const { identity, namespaces, registry, redis, dataDir, lanes } = bootstrap;
  const caller = makeCaller(identity, namespaces);
  const place = await openWorkplace({ dataDir, instance: identity, now: Date.now, id: newId });
  const swept = await keepSwept({ place, log, stop });
  const refusals = makeRefusalLog({ write: (batch) => writeRefusals(place, batch), now: Date.now, log });
  const engine = createEngine({
    connect: connectWith(redis.address, redis.credentials),
    registry: new Set(registry),
    id: newId,
    onRefusal: refusals.hear,
  });
  const levels = await probeContainment(place.dataDir);
  const deps = {
    place,
    host,
    levels,
    begin: (lease: Lease) => engine.begin(caller, lease),
    hide: bootstrap.hide,
    graceMs: agentGraceMs,
    worker: bootstrap.environment,
    networkEnv: bootstrap.networkEnvironment,
    promptTemplate: promptTemplate(),
  };
  const worker = await runWorker({
    engine,
    caller,
    lanes,
    supervise: (order) => superviseRun(deps, order),
    onTrouble: (error) => log.warn({ err: error }, 'trouble in the worker'),
  });
  const close = async (): Promise<void> => {
    await swept.ended;
    await engine.close();
    await refusals.stop();
  };
  return { worker, containment: levels[0]?.level ?? 'none', close };
}

/** First into the machine's own ledger, then to the App, which keeps those of all workers. */
async function writeRefusals({ ledger, owner }: Workplace, batch: RefusalBatch): Promise<void> {
  const { machineId, instance } = owner;
  try {
    for (const { atMs, ...refusal } of batch.events)
      await ledger.append({ ...refusal, v: 1, at: atMs, machineId, instance });
  } finally {
    say({ say: 'refused', batch });
  }
}

function main(): void {
  const host = makeHostClient((request) => say({ say: 'ask', request }));
  const stopping = new AbortController();
  let served: Promise<Served> | undefined;

  const begin = (bootstrap: Bootstrap): void => {
    const log = pino({ level: bootstrap.logLevel, name: 'worker' }, pino.destination(2));
    served = serve(bootstrap, host, log, stopping.signal);
    served.then(
      ({ containment }) => say({ say: 'serving', containment }),
      (error: unknown) => say({ say: 'unable', why: error instanceof Error ? error.message : String(error) }),
    );
  };

  const end = async (graceMs: number): Promise<void> => {
    stopping.abort();
    try {
      const running = await served;
      await running?.worker.close(graceMs);
      await running?.close();
    } finally {
      process.exit();
    }
  };

  process.on('message', (raw) => {
    const message = toWorkerSchema.parse(raw);
    if (message.say === 'begin') begin(message.bootstrap);
    else if (message.say === 'answer') host.take(message.response);
    else void end(message.graceMs);
  });
  // Without the App there is nobody to ask and nobody to tell: what runs have done is captured, and we end.
  process.on('disconnect', () => {
    host.hangUp();
    void end(0);
  });
  // The server ends us over IPC; a signal to its whole group must not end runs in the middle.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0));
}

main();
