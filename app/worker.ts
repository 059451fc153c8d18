/**
 * The worker child: serves the namespaces that it is granted. It is told over IPC who it is; it holds no credential of
 * GitHub and asks the App for what it needs from there. It ends when the App does.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pino, { type Logger } from 'pino';
import {
  createEngine,
  type Lease,
  makeCaller,
  openRedis,
  openWorkplace,
  probeContainment,
  type RunningWorker,
  runWorker,
  superviseRun,
} from '../lanes/index.ts';
import { type HostClient, makeHostClient } from './child/host-client.ts';
import { type Bootstrap, type FromWorker, toWorkerSchema } from './child/messages.ts';
import { packageFile } from './package-root.ts';

/** How long an agent has to end by itself after SIGINT. */
const agentGraceMs = 5_000;

const newId = (): string => randomBytes(16).toString('hex');

function say(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}

interface Served {
  readonly worker: RunningWorker;
  readonly containment: string;
  close(): Promise<void>;
}

async function serve(bootstrap: Bootstrap, host: HostClient, log: Logger): Promise<Served> {
  const { identity, namespaces, registry, redisUrl, dataDir, lanes } = bootstrap;
  const caller = makeCaller(identity, namespaces);
  const engine = createEngine({
    connect: () => openRedis(redisUrl),
    registry: new Set(registry),
    id: newId,
  });
  const place = await openWorkplace({ dataDir, instance: identity, now: Date.now, id: newId });
  const levels = await probeContainment(place.dataDir);
  const deps = {
    place,
    host,
    levels,
    begin: (lease: Lease, on: { base: string }) => engine.begin(caller, lease, on),
    hide: bootstrap.hide,
    graceMs: agentGraceMs,
    worker: bootstrap.environment,
    networkEnv: bootstrap.networkEnvironment,
    promptTemplate: readFileSync(packageFile('templates/prompts/task.md'), 'utf8'),
  };
  const worker = await runWorker({
    engine,
    caller,
    lanes,
    supervise: (order) => superviseRun(deps, order),
    onTrouble: (error) => log.warn({ err: error }, 'trouble in the worker'),
  });
  return { worker, containment: levels[0]?.level ?? 'none', close: () => engine.close() };
}

function main(): void {
  const host = makeHostClient((request) => say({ say: 'ask', request }));
  let served: Promise<Served> | undefined;

  const begin = (bootstrap: Bootstrap): void => {
    const log = pino({ level: bootstrap.logLevel, name: 'worker' }, pino.destination(2));
    served = serve(bootstrap, host, log);
    served.then(
      ({ containment }) => say({ say: 'serving', containment }),
      (error: unknown) => say({ say: 'unable', why: error instanceof Error ? error.message : String(error) }),
    );
  };

  const end = async (graceMs: number): Promise<void> => {
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
