import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { Probot } from 'probot';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AppCredentials, readStoredCredentials } from '../../../app/config/credentials.ts';
import { isConfigError } from '../../../app/config/problems.ts';
import { type RegisterOptions, registerApp } from '../../../app/intake/register/index.ts';
import { makeManifest, readAppFile } from '../../../app/intake/register/manifest.ts';
import { isLaneError } from '../../../lanes/errors.ts';
import { type GitHubStandIn, startGitHub } from '../../fakes/github.ts';

let github: GitHubStandIn;
let browser: Browser;
let root: string;
let dataDir: string;
let stopping: AbortController;
let registering: Promise<AppCredentials>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'lanekeeper-register-'));
  github = await startGitHub();
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  });
});
afterAll(async () => {
  await browser?.close();
  await github?.close();
  rmSync(root, { recursive: true });
});
beforeEach(() => {
  dataDir = join(mkdtempSync(join(root, 'case-')), 'var');
  stopping = new AbortController();
});
afterEach(async () => {
  stopping.abort();
  await registering.catch(() => {});
});

/** Starts the set-up page and resolves with the address that the terminal shows. */
function start(change: Partial<RegisterOptions> = {}): Promise<URL> {
  return new Promise((resolve, reject) => {
    registering = registerApp({
      host: '127.0.0.1',
      port: 0,
      publicUrl: null,
      webhookProxyUrl: null,
      apiUrl: github.url,
      serverUrl: github.url,
      dataDir,
      announce: (line) => resolve(new URL(/http\S+$/.exec(line)?.[0] ?? '')),
      signal: stopping.signal,
      ...change,
    });
    registering.catch(reject);
  });
}

/** A request as a browser with that cookie makes it, redirects not followed. */
function ask(url: URL | string, init: RequestInit & { cookie?: string } = {}): Promise<Response> {
  const { cookie, ...rest } = init;
  return fetch(url, {
    redirect: 'manual',
    ...rest,
    headers: { ...rest.headers, ...(cookie ? { cookie } : {}) },
  });
}

async function openSession(address: URL): Promise<string> {
  const answer = await ask(address);
  expect(answer.status).toBe(303);
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

function post(address: URL, cookie: string, fields: Record<string, string>): Promise<Response> {
  return ask(new URL('/setup', address), { method: 'POST', body: new URLSearchParams(fields), cookie });
}

/** The state and the manifest that step 2 sends to GitHub. */
async function confirmation(address: URL, cookie: string, fields: Record<string, string> = {}) {
  const text = await (await post(address, cookie, fields)).text();
  const action = /action="([^"]+)"/.exec(text)?.[1] ?? '';
  const value = /name="manifest" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const manifest = JSON.parse(value.replaceAll('&quot;', '"').replaceAll('&amp;', '&'));
  return { action, manifest, state: new URL(action).searchParams.get('state') ?? '' };
}

describe('in a browser', () => {
  let page: Page;
  const complaints: string[] = [];
  beforeEach(async () => {
    complaints.length = 0;
    page = await (await browser.newContext()).newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  afterEach(() => page.context().close());

  it('a person registers the App, and its credentials work', async () => {
    const address = await start();
    await page.goto(address.href);
    expect(page.url()).not.toContain('token');
    expect(await page.title()).toContain('Set up');
    await page.getByRole('button', { name: 'Go on' }).click();
    expect(await page.textContent('table')).toMatch(/issues\s*write/);
    await page.getByRole('button', { name: 'Create the App on GitHub' }).click();
    await page.waitForSelector('text=The App is registered');
    expect(await page.getAttribute('a.button', 'href')).toMatch(/\/installations\/new$/);

    const credentials = await registering;
    expect(credentials).toMatchObject({
      slug: expect.stringMatching(/^lanekeeper/),
      privateKey: expect.stringContaining('PRIVATE KEY'),
    });
    const probot = new Probot({ ...credentials, baseUrl: github.url, logLevel: 'fatal' });
    const app = await (await probot.auth()).rest.apps.getAuthenticated();
    expect(app.data?.id).toBe(credentials.appId);
    expect(statSync(join(dataDir, 'app.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual(['app.json']);
    expect(readStoredCredentials(dataDir)).toEqual(credentials);
    await expect(ask(new URL('/setup', address))).rejects.toThrow();
    expect(complaints.filter((line) => !line.includes('favicon'))).toEqual([]);
  });

  it('the style is applied under the content security policy, and nothing from outside is loaded', async () => {
    const address = await start();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).host));
    await page.goto(address.href);
    const color = await page.evaluate("getComputedStyle(document.querySelector('button')).color");
    expect(color).toBe('rgb(255, 255, 255)');
    expect(new Set(asked)).toEqual(new Set([address.host]));
  });

  it('what a person types is shown as text', async () => {
    const address = await start();
    await page.goto(address.href);
    const hostile = '"><script>document.title="owned"</script>';
    await page.getByLabel('Organisation').fill(hostile);
    await page.getByRole('button', { name: 'Go on' }).click();
    expect(await page.getByRole('alert').textContent()).toMatch(/not the name of an organisation/);
    expect(await page.getByLabel('Organisation').inputValue()).toBe(hostile);
    expect(await page.title()).toContain('Set up');
  });
});

describe('the token', () => {
  it('opens the page once, for one browser', async () => {
    const address = await start();
    const cookie = await openSession(address);
    expect((await ask(address)).status).toBe(403);
    expect((await ask(new URL('/setup', address))).status).toBe(401);
    expect((await ask(new URL('/setup', address), { cookie })).status).toBe(200);
  });

  it('that is wrong opens nothing, and does not use up the right one', async () => {
    const address = await start();
    for (const token of ['', 'x', '€'.repeat(15), `${address.searchParams.get('token')}x`]) {
      expect((await ask(new URL(`/setup?token=${encodeURIComponent(token)}`, address))).status).toBe(403);
    }
    await openSession(address);
  });

  it('becomes a cookie that no script and no other site can use', async () => {
    const set = (await ask(await start())).headers.get('set-cookie') ?? '';
    expect(set).toMatch(/HttpOnly/);
    expect(set).toMatch(/SameSite=Lax/);
    expect(set).not.toMatch(/Secure/);
  });

  it('is needed for every step', async () => {
    const address = await start();
    expect((await post(address, 'lanekeeper_setup=guess', {})).status).toBe(401);
    expect((await ask(new URL('/setup/callback?code=a&state=b', address))).status).toBe(401);
  });
});

describe('the manifest', () => {
  it('asks for the least permissions, and for the events that have hooks', async () => {
    const address = await start();
    const { manifest } = await confirmation(address, await openSession(address));
    expect(manifest).toMatchObject({
      public: false,
      default_permissions: {
        issues: 'write',
        contents: 'read',
        metadata: 'read',
        pull_requests: 'read',
        actions: 'read',
      },
      default_events: ['issues', 'issue_comment'],
      redirect_url: `${address.origin}/setup/callback`,
    });
  });

  it('has the webhook path on the public address where there is one', async () => {
    const address = await start({ publicUrl: 'https://lanes.example' });
    expect(address.origin).toBe('https://lanes.example');
    const manifest = makeManifest(readAppFile(), { base: 'https://lanes.example', webhookProxyUrl: null });
    expect(manifest.hook_attributes.url).toBe('https://lanes.example/api/github/webhooks');
    expect(manifest.redirect_url).toBe('https://lanes.example/setup/callback');
  });

  it('has the smee channel as it is, which is stored too', async () => {
    const address = await start({ serverUrl: 'https://github.com' });
    const cookie = await openSession(address);
    expect((await post(address, cookie, {})).status).toBe(422);
    expect((await post(address, cookie, { proxy: 'javascript:alert(1)' })).status).toBe(422);
    const { manifest, action } = await confirmation(address, cookie, {
      proxy: 'https://smee.io/abc',
      organization: 'acme',
    });
    expect(manifest.hook_attributes).toEqual({ url: 'https://smee.io/abc', active: true });
    expect(action).toMatch(/^https:\/\/github\.com\/organizations\/acme\/settings\/apps\/new\?state=/);
  });
});

describe('the way back from GitHub', () => {
  /** Plays the browser's part: posts the manifest to GitHub and returns where it sends us. */
  async function viaGitHub(address: URL, cookie: string): Promise<URL> {
    const { action, manifest } = await confirmation(address, cookie);
    const answer = await ask(action, {
      method: 'POST',
      body: new URLSearchParams({ manifest: JSON.stringify(manifest) }),
    });
    return new URL(answer.headers.get('location') ?? '');
  }

  it('needs the state that went there, and takes it once', async () => {
    const address = await start();
    const cookie = await openSession(address);
    const back = await viaGitHub(address, cookie);
    const other = new URL(back);
    other.searchParams.set('state', 'x');
    expect((await ask(other, { cookie })).status).toBe(403);
    expect((await ask(back)).status).toBe(401);
    expect((await ask(back, { cookie })).status).toBe(200);
    expect((await registering).appId).toBeGreaterThan(0);
  });

  it('with a code that GitHub does not know says so, and can be started again', async () => {
    const address = await start();
    const cookie = await openSession(address);
    const { state } = await confirmation(address, cookie);
    const wrong = await ask(new URL(`/setup/callback?code=nothing&state=${state}`, address), { cookie });
    expect(wrong.status).toBe(502);
    expect(await wrong.text()).toContain('Start again');
    const again = await ask(new URL(`/setup/callback?code=other&state=${state}`, address), { cookie });
    expect(again.status).toBe(403);
    expect((await ask(await viaGitHub(address, cookie), { cookie })).status).toBe(200);
    await registering;
  });

  it('asks GitHub once, whatever it answers', async () => {
    let asked = 0;
    const broken = createServer((_request, response) => {
      asked += 1;
      response.writeHead(502).end();
    });
    broken.listen(0, '127.0.0.1');
    await once(broken, 'listening');
    const address = await start({ apiUrl: `http://127.0.0.1:${(broken.address() as AddressInfo).port}` });
    const cookie = await openSession(address);
    const { state } = await confirmation(address, cookie);
    expect((await ask(new URL(`/setup/callback?code=a&state=${state}`, address), { cookie })).status).toBe(
      502,
    );
    expect(asked).toBe(1);
    broken.closeAllConnections();
    await new Promise((resolve) => broken.close(resolve));
  });
});

describe('the set-up page', () => {
  it('does not start where nothing can be stored', async () => {
    mkdirSync(join(dataDir, '..'), { recursive: true });
    writeFileSync(dataDir, 'a file, not a folder');
    const failed = await start().catch((error: unknown) => error);
    expect(isLaneError(failed, 'disk')).toBe(true);
    expect(readFileSync(dataDir, 'utf8')).toBe('a file, not a folder');
  });

  it('does not start on a port in use, or for a GitHub without pages', async () => {
    const port = Number((await start()).port);
    const first = registering;
    expect(isConfigError(await start({ port }).catch((error: unknown) => error))).toBe(true);
    expect(
      isConfigError(await start({ serverUrl: 'file:///srv/git' }).catch((error: unknown) => error)),
    ).toBe(true);
    stopping.abort();
    await expect(first).rejects.toThrow();
  });

  it('ends when it is told to', async () => {
    const address = await start();
    stopping.abort(new Error('stopped by a person'));
    await expect(registering).rejects.toThrow('stopped by a person');
    await expect(ask(address)).rejects.toThrow();
  });

  it('refuses a form that is too large', async () => {
    const address = await start();
    const cookie = await openSession(address);
    expect((await post(address, cookie, { organization: 'x'.repeat(20_000) })).status).toBe(413);
  });
});
