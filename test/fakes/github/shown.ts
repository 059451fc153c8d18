/**
 * The last touch on every object that leaves the stand-in: reaction counts, bots as bots, the App behind a comment, and times
 * in whole seconds, as GitHub has them.
 */
import type { AppRecord } from './apps.ts';
import type { JsonObject } from './call.ts';
import { isObject, textAt } from './call.ts';
import type { World } from './world.ts';

type Shown = Pick<World, 'apps' | 'repos' | 'reactions' | 'url'>;

/** An object with everything inside it made right; the original stays as it is. */
export function asShown(world: Shown, value: JsonObject): JsonObject {
  const entries = Object.entries(value).map(([key, inner]) => [key, field(world, value, key, inner)]);
  const bot = textAt(value, 'login').endsWith('[bot]');
  return { ...Object.fromEntries(entries), ...(bot ? { type: 'Bot' } : {}) };
}

/** Any JSON value made right. */
export function anyShown(world: Shown, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => anyShown(world, one));
  return isObject(value) ? asShown(world, value) : value;
}

function field(world: Shown, owner: JsonObject, key: string, value: unknown): unknown {
  if (key.endsWith('_at') && typeof value === 'string') return value.replace(/\.\d{3}Z$/, 'Z');
  if (key === 'reactions' && isObject(value)) return counted(world, value);
  if (key === 'performed_via_github_app') return appBehind(world, textAt(owner, 'user', 'login'));
  return anyShown(world, value);
}

function counted(world: Shown, summary: JsonObject): JsonObject {
  const url = textAt(summary, 'url');
  const [, owner, name, rest] = /\/repos\/([^/]+)\/([^/]+)\/(.+)\/reactions$/.exec(url) ?? [];
  const repo = owner && name ? world.repos.named(owner, name) : undefined;
  return repo ? world.reactions.summary(`${repo.id}/${rest}`, url) : summary;
}

function appBehind(world: Shown, login: string): JsonObject | null {
  const app = world.apps.apps.find((one) => `${one.slug}[bot]` === login);
  return app ? appStub(app) : null;
}

function appStub(app: AppRecord): JsonObject {
  const { id, slug, name, permissions, events } = app;
  return { id, slug, name, client_id: app.clientId, permissions, events };
}
