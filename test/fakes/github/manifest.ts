/**
 * Registering an App from a manifest: the page that takes it, the redirect with a code, and the conversion.
 *
 * Flow: docs.github.com, "Registering a GitHub App from a manifest". A code works once, within an hour.
 */

import { describeApp } from './approutes.ts';
import type { AppRecord } from './apps.ts';
import type { Answer, Call, JsonObject, Route } from './call.ts';
import { isObject, param, Refusal, textAt } from './call.ts';
import type { World } from './world.ts';

const codeLifeMs = 60 * 60 * 1000;

interface Pending {
  app: AppRecord;
  expiresAtMs: number;
}

export function manifestRoutes(world: World): Route[] {
  const codes = new Map<string, Pending>();
  const pages = ['/settings/apps/new', '/organizations/:org/settings/apps/new'];
  return [
    ...pages.flatMap((pattern): Route[] => [
      { method: 'GET', pattern, handle: (call) => page(call) },
      { method: 'POST', pattern, handle: (call) => submit(world, codes, call) },
    ]),
    {
      method: 'POST',
      pattern: '/app-manifests/:code/conversions',
      handle: (_call, params) => convert(world, codes, param(params, 'code')),
    },
  ];
}

function page(call: Call): Answer {
  const action = `${call.path}?state=${encodeURIComponent(call.query.get('state') ?? '')}`;
  const html = `<!doctype html><meta charset="utf-8"><title>Register new GitHub App</title>
<h1>Register new GitHub App</h1>
<form method="post" action="${escapeHtml(action)}">
<label>Manifest <textarea name="manifest" rows="20" cols="80"></textarea></label>
<button>Create GitHub App</button></form>`;
  return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, text: html };
}

function submit(world: World, codes: Map<string, Pending>, call: Call): Answer {
  const form = new URLSearchParams(call.body.toString('utf8'));
  const manifest = manifestOf(form.get('manifest') ?? call.query.get('manifest'));
  const target = new URL(webUrl(manifest, 'redirect_url'));
  const app = world.apps.register({
    name: textAt(manifest, 'name') || 'Unnamed App',
    slug: slugOf(textAt(manifest, 'name') || 'unnamed-app'),
    description: textAt(manifest, 'description') || null,
    externalUrl: webUrl(manifest, 'url'),
    hookUrl: hookUrlOf(manifest),
    permissions: words(manifest.default_permissions),
    events: Array.isArray(manifest.default_events) ? manifest.default_events.map(String) : [],
  });
  const code = world.secret();
  codes.set(code, { app, expiresAtMs: world.now() + codeLifeMs });
  target.searchParams.set('code', code);
  const state = form.get('state') ?? call.query.get('state');
  if (state !== null) target.searchParams.set('state', state);
  return { status: 302, headers: { location: target.href } };
}

function convert(world: World, codes: Map<string, Pending>, code: string): Answer {
  const pending = codes.get(code);
  codes.delete(code);
  if (!pending || pending.expiresAtMs <= world.now()) throw new Refusal(404, 'Not Found');
  const { app } = pending;
  const { client_id, ...rest } = describeApp(world, app);
  return {
    status: 201,
    body: {
      ...rest,
      client_id,
      client_secret: app.clientSecret,
      webhook_secret: app.webhookSecret,
      pem: app.privateKey,
    },
  };
}

function manifestOf(text: string | null): JsonObject {
  try {
    const value: unknown = JSON.parse(text ?? '');
    if (isObject(value)) return value;
  } catch {
    // answered below like any other text that is no manifest
  }
  throw new Refusal(422, 'Invalid GitHub App configuration: the manifest field is not a JSON object');
}

function webUrl(manifest: JsonObject, name: string): string {
  const text = textAt(manifest, name);
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new Refusal(422, `Invalid GitHub App configuration: ${name} must be a valid URL`);
}

function hookUrlOf(manifest: JsonObject): string | null {
  const hook = manifest.hook_attributes;
  if (!isObject(hook) || hook.active === false) return null;
  return webUrl(hook, 'url');
}

function words(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, level]) => [name, String(level)]));
}

function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
