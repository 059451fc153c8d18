/**
 * The App's conversation with GitHub on real parts: the stand-in over HTTP, a real Redis, the real engine, and our Probot
 * behind a small receiver. The clock stands apart from the wall's: waiting moves it on.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Octokit } from '@octokit/rest';
import { Redis } from 'ioredis';
import type { Probot } from 'probot';
import { type Broker, createBroker } from '../../app/broker/index.ts';
import { noteKey } from '../../app/broker/note/index.ts';
import { makeAnswerText, makeNoteText } from '../../app/broker/note-text.ts';
import { readRepositoryFile } from '../../app/config/repository-file.ts';
import { closeBodyReader, readBody } from '../../app/github/body/index.ts';
import { clientsOf } from '../../app/github/client.ts';
import { type AppHostPort, makeHostPort } from '../../app/github/host-port.ts';
import { makeGitHub } from '../../app/github/index.ts';
import { makeProbot } from '../../app/github/probot.ts';
import type { Desk } from '../../app/hooks/desk/port.ts';
import { makeApp } from '../../app/index.ts';
import { type Keeper, makeKeeper } from '../../app/reconcile/keeper.ts';
import { type LabelKeeper, makeLabelKeeper } from '../../app/reconcile/labels.ts';
import { makeScan, type Scan } from '../../app/reconcile/scan.ts';
import { createEngine, type Engine, fillLane, type Lane, openRedis } from '../../lanes/index.ts';
import { type Caller, makeCaller, makeRegistry } from '../../lanes/namespaces.ts';
import type { IssueRef } from '../../lanes/records/common.ts';
import { operatorFileSchema } from '../../lanes/records/config.ts';
import type { IssueRecord } from '../../lanes/records/issues.ts';
import type { Task } from '../../lanes/records/tasks.ts';
import { type GitHubStandIn, type MadeRepo, startGitHub } from '../fakes/github.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';

export interface Clock {
  now(): number;
  /** Moves on by `ms` without waiting. */
  pass(ms: number): void;
}

/** A lane of the operator's file that the tests run with. */
export function laneNamed(name: string): Lane {
  const found = lanes.find((lane) => lane.name === name);
  if (!found) throw new Error(`no lane ${name}`);
  return found;
}

export interface World {
  readonly github: GitHubStandIn;
  readonly engine: Engine;
  readonly desk: Desk;
  readonly caller: Caller;
  readonly broker: Broker;
  readonly keeper: Keeper;
  readonly labels: LabelKeeper;
  readonly scan: Scan;
  readonly hostPort: AppHostPort;
  readonly clock: Clock;
  readonly repo: MadeRepo;
  readonly probot: Probot;
  /** As each person. */
  readonly as: Record<'maria' | 'tariq' | 'sven' | 'wanda', Octokit>;
  /** Failures of hooks, which a consumer of deliveries would try again. */
  readonly failures: unknown[];
  /** What was logged. */
  readonly logged: string[];
  /** Every delivery handled, every effect delivered. */
  settle(): Promise<void>;
  /** A broker with nothing in memory, as after a restart. */
  freshBroker(): Broker;
  /** A connection of the superuser, for what a test does to the store behind everyone's back. */
  redis(): Redis;
  /** Another engine on the same store, whose leases last 30 ms. */
  readonly hasty: Engine;
  ref(number: number): IssueRef;
  record(number: number): Promise<IssueRecord | null>;
  /** The task that the issue's pointer names. */
  task(number: number): Promise<Task | null>;
  stop(): Promise<void>;
}

const laneFile = operatorFileSchema.parse({
  lanes: {
    triage: { agent: { kind: 'checks' }, checks: { unit: { run: ['true'] } } },
    docs: { agent: { kind: 'checks' }, allowBots: ['helper'] },
    free: { agent: { kind: 'checks' }, onNoCriteria: 'run' },
  },
});
export const lanes: readonly Lane[] = Object.entries(laneFile.lanes).map(([name, one]) =>
  fillLane(name, one),
);

function makeClock(): Clock {
  let offsetMs = 0;
  return {
    now: () => Date.now() + offsetMs,
    pass(ms) {
      offsetMs += ms;
    },
  };
}

export async function startWorld(): Promise<World> {
  const redis = await startTestRedis();
  const github = await startGitHub();
  const repo = await github.createRepo({ owner: 'acme', name: `app-${randomUUID().slice(0, 8)}` });
  const namespaces = lanes.map((lane) => lane.namespace);
  const registry = makeRegistry(namespaces);
  const grants = new Map(['app', 'worker-1', 'worker-d'].map((worker) => [worker, namespaces]));
  const engine = createEngine({ connect: () => openRedis(redis.url), registry, id: () => randomUUID() });
  const hasty = createEngine({
    connect: () => openRedis(redis.url),
    registry,
    id: () => randomUUID(),
    leaseTtlMs: 30,
  });
  const caller = makeCaller('app', registry);
  const clock = makeClock();
  const probot = makeProbot({
    appId: github.appId,
    privateKey: github.privateKey,
    webhookSecret: github.webhookSecret,
    apiUrl: github.url,
    logLevel: 'fatal',
  });
  const app = { id: github.appId, slug: github.slug };
  const logged: string[] = [];
  const desk: Desk = {
    engine,
    caller: (namespace) => makeCaller('app', [namespace]),
    github: makeGitHub({
      clients: clientsOf(probot),
      app,
      serverUrl: github.gitUrl,
      parseRepositoryFile: readRepositoryFile,
      now: clock.now,
    }),
    app,
    lanes,
    listed: (name) => name.startsWith('acme/'),
    readBody,
    answer: makeAnswerText([]),
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    id: () => randomUUID().replaceAll('-', ''),
    now: clock.now,
    log: (level, message) => void logged.push(`${level}: ${message}`),
  };
  const sleep = async (ms: number): Promise<void> => clock.pass(ms);
  const labels = makeLabelKeeper({ desk, sleep });
  const key = noteKey({ privateKeyPem: github.privateKey });
  const notes = makeNoteText({ keys: [key], secrets: [] });
  const freshBroker = (): Broker => createBroker({ desk, engine, namespaces, notes, holder: 'world', sleep });
  const broker = freshBroker();
  const failures: unknown[] = [];
  await probot.load(makeApp({ desk, labels, changed: () => {} }));
  const receiver = await receive(probot, failures);
  github.setHookUrl(receiver.url);
  const ref = (number: number): IssueRef => ({
    installation: github.installationId,
    repositoryId: repo.id,
    repository: repo.fullName,
    number,
  });
  const record = (number: number) => engine.issues.get(caller, repo.id, number);
  return {
    github,
    engine,
    desk,
    caller,
    broker,
    keeper: makeKeeper({ desk, engine, namespaces, grants }),
    labels,
    scan: makeScan({ desk, labels }),
    hostPort: makeHostPort(desk),
    clock,
    repo,
    probot,
    as: {
      maria: github.octokit(github.people.admin.token),
      tariq: github.octokit(github.people.triager.token),
      sven: github.octokit(github.people.stranger.token),
      wanda: github.octokit(github.people.writer.token),
    },
    failures,
    logged,
    freshBroker,
    redis: () => new Redis(redis.url),
    hasty,
    ref,
    record,
    async task(number) {
      const pointer = (await record(number))?.pointer;
      return pointer ? engine.get(caller, pointer.namespace, pointer.id) : null;
    },
    async settle() {
      for (let done = 1; done > 0; ) {
        await github.settle();
        done = await broker.runOnce();
        await github.settle();
      }
    },
    stop: () => stop(receiver.server, github, [engine, hasty], redis),
  };
}

async function stop(
  server: Server,
  github: GitHubStandIn,
  engines: Engine[],
  redis: TestRedis,
): Promise<void> {
  await github.settle();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  for (const engine of engines) await engine.close();
  await closeBodyReader();
  await github.close();
  await redis.stop();
}

/** Takes deliveries and hands them to Probot at once. A failed hook is answered 500. */
async function receive(probot: Probot, failures: unknown[]): Promise<{ url: string; server: Server }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      const id = String(request.headers['x-github-delivery']);
      const name = String(request.headers['x-github-event']);
      await probot.receive({
        id,
        name,
        payload: JSON.parse(Buffer.concat(chunks).toString('utf8')),
      } as never);
      response.writeHead(202).end();
    } catch (error) {
      failures.push(error);
      response.writeHead(500).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/`, server };
}
