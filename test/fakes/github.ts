/**
 * The stand-in for GitHub: emulate behind a proxy that makes it answer, limit and tell as GitHub does. One port.
 *
 * People act on it through @octokit/rest with their tokens. Faults are off until a test sets one.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Octokit } from '@octokit/rest';
import { appRoutes } from './github/approutes.ts';
import type { AppRecord } from './github/apps.ts';
import { commentRoutes } from './github/comments.ts';
import { contentsRoutes } from './github/contents.ts';
import { controlRoutes } from './github/controlroutes.ts';
import { Controls } from './github/controls.ts';
import { type Counts, type RequestEntry, RequestLog, type Side } from './github/counts.ts';
import { deliveryRoutes, hookConfigRoutes } from './github/deliveryroutes.ts';
import { type Fault, Faults, type FaultWish } from './github/faults.ts';
import { GitHttp } from './github/githttp.ts';
import type { Delivery } from './github/hooks.ts';
import { Installing } from './github/installing.ts';
import { issueRoutes } from './github/issues.ts';
import { labelRoutes } from './github/labels.ts';
import { manifestRoutes } from './github/manifest.ts';
import { organizations, type People } from './github/people.ts';
import { pullRoutes } from './github/pulls.ts';
import { reactionRoutes } from './github/reactions.ts';
import { refRoutes } from './github/refs.ts';
import { repoRoutes } from './github/reporoutes.ts';
import { rightsRoutes } from './github/rights.ts';
import { closeServer, makeServer } from './github/server.ts';
import { tokenRoutes } from './github/tokens.ts';
import type { WebhookFault } from './github/webhookfaults.ts';
import { makeWorld, type World } from './github/world.ts';

export type { MadeRepo } from './github/controls.ts';

export interface GitHubOptions {
  /** Default 0: any free port of 127.0.0.1. */
  port?: number;
  /** Milliseconds since the epoch; decides on JWTs, token lives and commit times. */
  now?: () => number;
  /** The App's name on GitHub; default `lanekeeper`. */
  slug?: string;
  hookUrl?: string;
  /** What the App may do; default what it needs to work on issues. */
  permissions?: Record<string, string>;
  events?: string[];
}

export interface GitHubStandIn {
  url: string;
  /** Base of clone URLs: `<gitUrl>/<owner>/<name>.git`. */
  gitUrl: string;
  appId: number;
  privateKey: string;
  webhookSecret: string;
  slug: string;
  /** The admin's personal token. */
  token: string;
  people: People;
  /** Of the App on `acme`; the App is not installed on `globex`. */
  installationId: number;
  setHookUrl(url: string | null): void;
  controls: Controls;
  installing: Installing;
  createRepo: Controls['createRepo'];
  commit: Controls['commit'];
  /** Requests by kind since the last reset, of Apps unless people are asked for. */
  counts(side?: Side): Counts;
  resetCounts(): void;
  requests(): readonly RequestEntry[];
  fault(wish: FaultWish): Fault;
  webhookFault(fault: WebhookFault): void;
  clearFaults(): void;
  deliveries(): readonly Delivery[];
  /** Resolves when every queued delivery has been answered or given up. */
  settle(): Promise<void>;
  octokit(token: string): Octokit;
  close(): Promise<void>;
}

const nothing = () => undefined;
/** Refusals are answers here, not news for the console. */
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const defaultPermissions = { issues: 'write', contents: 'read', metadata: 'read', pull_requests: 'read' };
const defaultEvents = ['issues', 'issue_comment', 'repository'];

/** Starts a stand-in of its own; `close` leaves no port, process or folder behind. */
export async function startGitHub(options: GitHubOptions = {}): Promise<GitHubStandIn> {
  const gitRoot = await mkdtemp(join(tmpdir(), 'github-standin-'));
  const address = { url: '' };
  const world = await makeWorld(options.now ?? Date.now, address);
  const app = registerApp(world, options);
  const rooms = openRooms(world, gitRoot);
  const server = await listen(rooms.server, options.port ?? 0);
  address.url = server.url;
  const installation = world.apps.install(app, organizations[0]);
  return {
    url: server.url,
    gitUrl: server.url,
    appId: app.id,
    privateKey: app.privateKey,
    webhookSecret: app.webhookSecret,
    slug: app.slug,
    token: world.people.admin.token,
    people: world.people,
    installationId: installation.id,
    ...handles(world, rooms, app),
    close: () => closeAll(world, rooms, gitRoot),
  };
}

function registerApp(world: World, options: GitHubOptions): AppRecord {
  const slug = options.slug ?? 'lanekeeper';
  return world.apps.register({
    name: slug,
    slug,
    hookUrl: options.hookUrl ?? null,
    permissions: options.permissions ?? defaultPermissions,
    events: options.events ?? defaultEvents,
  });
}

interface OpenRooms {
  server: Server;
  git: GitHttp;
  faults: Faults;
  log: RequestLog;
  controls: Controls;
  installing: Installing;
  closing: AbortController;
}

function openRooms(world: World, gitRoot: string): OpenRooms {
  const faults = new Faults();
  const log = new RequestLog();
  const git = new GitHttp(world);
  const controls = new Controls(world, gitRoot);
  const installing = new Installing(world);
  const closing = new AbortController();
  const routes = [
    ...controlRoutes({ world, controls, installing, faults, log }),
    ...appRoutes(world),
    ...tokenRoutes(world),
    ...hookConfigRoutes(),
    ...deliveryRoutes(world),
    ...manifestRoutes(world),
    ...reactionRoutes(world),
    ...commentRoutes(world),
    ...issueRoutes(world),
    ...labelRoutes(world),
    ...rightsRoutes(world),
    ...contentsRoutes(world),
    ...refRoutes(world),
    ...pullRoutes(world),
    ...repoRoutes(world, gitRoot),
  ];
  const server = makeServer({ world, routes, git, faults, log, closing: closing.signal });
  return { server, git, faults, log, controls, installing, closing };
}

function listen(server: Server, port: number): Promise<{ url: string }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const bound = server.address();
      resolve({ url: `http://127.0.0.1:${typeof bound === 'object' && bound ? bound.port : port}` });
    });
  });
}

function handles(world: World, rooms: OpenRooms, app: AppRecord) {
  const { controls, installing, faults, log } = rooms;
  return {
    controls,
    installing,
    createRepo: controls.createRepo.bind(controls),
    commit: controls.commit.bind(controls),
    setHookUrl: (url: string | null) => {
      app.hookUrl = url;
    },
    counts: (side?: Side) => log.counts(side),
    resetCounts: () => log.reset(),
    requests: () => log.entries,
    fault: (wish: FaultWish) => faults.add(wish),
    webhookFault: (fault: WebhookFault) => world.hooks.faults.add(fault),
    clearFaults: () => {
      faults.clear();
      world.hooks.faults.clear();
    },
    deliveries: () => world.hooks.log,
    settle: () => world.hooks.settle(),
    octokit: (token: string) => new Octokit({ auth: token, baseUrl: world.url, log: silent }),
  };
}

async function closeAll(world: World, rooms: OpenRooms, gitRoot: string): Promise<void> {
  rooms.closing.abort();
  rooms.git.stop();
  await closeServer(rooms.server);
  await world.hooks.close();
  await world.upstream.close();
  await rm(gitRoot, { recursive: true, force: true });
}
