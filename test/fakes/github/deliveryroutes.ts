/**
 * The App's hook: its settings, its delivery log (newest first, paged by cursor), redelivery under the same GUID.
 */
import { appOf } from './approutes.ts';
import type { AppRecord } from './apps.ts';
import type { Answer, Call, JsonObject, Route } from './call.ts';
import { at, jsonOf, param, textAt } from './call.ts';
import type { Delivery } from './hooks.ts';
import { link, pageSize } from './paging.ts';
import type { World } from './world.ts';

export function deliveryRoutes(world: World): Route[] {
  const path = '/app/hook/deliveries';
  return [
    { method: 'GET', pattern: path, handle: (call) => list(world, call) },
    {
      method: 'GET',
      pattern: `${path}/:id`,
      handle: (call, params) => {
        const found = world.hooks.find(appOf(call), Number(param(params, 'id')));
        return { status: 200, body: full(found) };
      },
    },
    {
      method: 'POST',
      pattern: `${path}/:id/attempts`,
      handle: (call, params) => {
        world.hooks.redeliver(appOf(call), Number(param(params, 'id')));
        return { status: 202, body: {} };
      },
    },
  ];
}

function list(world: World, call: Call): Answer {
  const app = appOf(call);
  const status = call.query.get('status');
  const before = Number(call.query.get('cursor') ?? Number.POSITIVE_INFINITY);
  const answered = world.hooks.log.filter((one) => one.app === app && one.statusCode !== 0);
  const fitting = answered.filter((one) => status === null || succeeded(one) === (status === 'success'));
  const older = fitting.filter((one) => one.id < before).sort((a, b) => b.id - a.id);
  const page = older.slice(0, pageSize(call));
  const last = page.at(-1);
  const more = last !== undefined && older.length > page.length;
  const headers: Record<string, string> = more
    ? { link: link(world, call, { cursor: last.id }, 'next') }
    : {};
  return { status: 200, headers, body: page.map(brief) };
}

function succeeded(delivery: Delivery): boolean {
  return delivery.statusCode >= 200 && delivery.statusCode < 400;
}

/** A delivery as the list shows it. */
export function brief(delivery: Delivery): JsonObject {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: new Date(delivery.deliveredAtMs).toISOString(),
    redelivery: delivery.redelivery,
    duration: Math.round(delivery.durationMs) / 1000,
    status: delivery.status,
    status_code: delivery.statusCode,
    event: delivery.event,
    action: delivery.action,
    installation_id: delivery.installationId || null,
    repository_id: delivery.repositoryId || null,
  };
}

function full(delivery: Delivery): JsonObject {
  return {
    ...brief(delivery),
    url: delivery.url,
    request: { headers: delivery.headers, payload: JSON.parse(delivery.payload) },
    response: { headers: {}, payload: delivery.response },
  };
}

/** `GET` and `PATCH /app/hook/config`. */
export function hookConfigRoutes(): Route[] {
  const shown = (app: AppRecord): Answer => ({
    status: 200,
    body: { content_type: 'json', insecure_ssl: '0', secret: '********', url: app.hookUrl ?? '' },
  });
  return [
    { method: 'GET', pattern: '/app/hook/config', handle: (call) => shown(appOf(call)) },
    {
      method: 'PATCH',
      pattern: '/app/hook/config',
      handle: (call) => {
        const app = appOf(call);
        const wish = jsonOf(call);
        if (typeof at(wish, 'url') === 'string') app.hookUrl = textAt(wish, 'url');
        if (typeof at(wish, 'secret') === 'string') app.webhookSecret = textAt(wish, 'secret');
        return shown(app);
      },
    },
  ];
}
