/**
 * The controls over HTTP, under `/_control/` and with the admin's token only.
 */
import type { AppRecord } from './apps.ts';
import type { Answer, Call, JsonObject, Route } from './call.ts';
import { at, isObject, jsonOf, numberAt, objectsIn, Refusal, textAt } from './call.ts';
import type { Controls, RepoWish } from './controls.ts';
import type { RequestLog } from './counts.ts';
import { brief } from './deliveryroutes.ts';
import type { Faults, FaultWish } from './faults.ts';
import type { Installing } from './installing.ts';
import type { WebhookFault } from './webhookfaults.ts';
import type { World } from './world.ts';

export interface ControlRooms {
  world: World;
  controls: Controls;
  installing: Installing;
  faults: Faults;
  log: RequestLog;
}

const apiFaults: readonly string[] = ['502_after_write', '502_before', '403_retry_after', 'slow', 'drop'];
const hookFaults: readonly string[] = ['drop', 'double', 'reorder', 'delay'];

type Act = (body: JsonObject, call: Call) => unknown;

export function controlRoutes(rooms: ControlRooms): Route[] {
  return [...watching(rooms), ...making(rooms)];
}

function route(method: string, name: string, act: Act): Route {
  return { method, pattern: `/_control/${name}`, handle: (call) => guarded(call, act) };
}

/** What was asked and sent, and what goes wrong next. */
function watching({ world, faults, log }: ControlRooms): Route[] {
  return [
    route('GET', 'counts', () => ({ apps: log.counts('apps'), people: log.counts('people') })),
    route('DELETE', 'counts', () => log.reset()),
    route('GET', 'requests', () => log.entries),
    route('GET', 'deliveries', () => world.hooks.log.map(brief)),
    route('POST', 'settle', () => world.hooks.settle()),
    route('POST', 'faults', (body) => void faults.add(faultOf(body))),
    route('POST', 'webhook-faults', (body) => world.hooks.faults.add(webhookFaultOf(body))),
    route('DELETE', 'faults', () => {
      faults.clear();
      world.hooks.faults.clear();
    }),
  ];
}

/** What is made to happen. */
function making({ world, controls, installing }: ControlRooms): Route[] {
  return [
    route('POST', 'hook', (body) => {
      appNamed(world, body).hookUrl = textAt(body, 'url') || null;
    }),
    route('POST', 'repos', (body) => controls.createRepo(repoWish(body))),
    route('POST', 'commits', async (body) => ({
      sha: await controls.commit(
        named(world, body),
        filesOf(body.files),
        textAt(body, 'message') || 'Change',
      ),
    })),
    route('POST', 'installations', async (body) => {
      const repos = Array.isArray(body.repositories) ? reposOf(world, body.repositories) : undefined;
      return { id: await installing.installOn(textAt(body, 'owner'), repos, appNamed(world, body)) };
    }),
    route('DELETE', 'installations', (body) =>
      installing.uninstall(textAt(body, 'owner'), appNamed(world, body)),
    ),
    route('POST', 'issues/delete', (body) =>
      controls.deleteIssue(named(world, body), numberAt(body, 'number')),
    ),
    route('POST', 'issues/transfer', async (body) => {
      const target = named(world, { repository: body.to });
      return { number: await controls.transferIssue(named(world, body), numberAt(body, 'number'), target) };
    }),
  ];
}

async function guarded(call: Call, act: Act): Promise<Answer> {
  if (call.caller.kind !== 'person' || call.caller.person.role !== 'admin') {
    throw new Refusal(403, "The controls need the admin's token");
  }
  const body = await act(jsonOf(call), call);
  return body === undefined ? { status: 204 } : { status: 200, body };
}

function faultOf(body: JsonObject): FaultWish {
  const kind = textAt(body, 'kind');
  if (!apiFaults.includes(kind)) throw new Refusal(422, `kind is one of ${apiFaults.join(', ')}`);
  return { ...body, path: new RegExp(textAt(body, 'path')), kind: kind as FaultWish['kind'] };
}

function webhookFaultOf(body: JsonObject): WebhookFault {
  const kind = textAt(body, 'kind');
  if (!hookFaults.includes(kind)) throw new Refusal(422, `kind is one of ${hookFaults.join(', ')}`);
  return { ...body, event: textAt(body, 'event'), kind: kind as WebhookFault['kind'] };
}

function repoWish(body: JsonObject): RepoWish {
  const files = isObject(body.files) ? { files: filesOf(body.files) } : {};
  const flags = { private: body.private === true, empty: body.empty === true };
  return { owner: textAt(body, 'owner'), name: textAt(body, 'name'), ...flags, ...files };
}

function filesOf(value: unknown): Record<string, string | null> {
  if (!isObject(value)) throw new Refusal(422, 'files is an object: path -> text, or null to remove');
  const entries = Object.entries(value).map(
    ([path, text]) => [path, text === null ? null : String(text)] as const,
  );
  return Object.fromEntries(entries);
}

function appNamed(world: World, body: JsonObject): AppRecord {
  const slug = at(body, 'app');
  const found = world.apps.apps.find((app) => slug === undefined || app.slug === slug);
  if (!found) throw new Refusal(404, `No App is called ${String(slug)}`);
  return found;
}

/** The repository that `repository` names as `owner/name`. */
function named(world: World, body: JsonObject): { id: number } {
  const [owner = '', name = ''] = textAt(body, 'repository').split('/');
  return world.repos.demand(owner, name);
}

function reposOf(world: World, names: unknown[]): Array<{ id: number }> {
  return objectsIn(names.map((name) => ({ repository: name }))).map((one) => named(world, one));
}
