/** The set-up page's routes: the token, the choices, the way to GitHub and back. */
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { isLaneError } from '../../../lanes/index.ts';
import type { AppCredentials } from '../../config/credentials.ts';
import { convertCode } from './convert.ts';
import { makeManifest, readAppFile } from './manifest.ts';
import {
  type Choices,
  choicesPage,
  confirmPage,
  contentSecurityPolicy,
  donePage,
  wrongPage,
} from './pages.ts';
import type { Gate } from './session.ts';
import { storeCredentials } from './store.ts';

interface RouteDeps {
  readonly base: string;
  readonly publicUrl: string | null;
  readonly webhookProxyUrl: string | null;
  readonly apiUrl: string;
  readonly serverUrl: string;
  readonly dataDir: string;
  readonly gate: Gate;
  /** Called when the credentials are stored and the last page has been sent. */
  readonly registered: (credentials: AppCredentials) => void;
}

type Env = { Bindings: HttpBindings };
type Ctx = Context<Env>;

const cookieName = 'lanekeeper_setup';

export function makeRoutes(deps: RouteDeps): Hono<Env> {
  const routes = new Hono<Env>();
  const appFile = readAppFile();
  const asksProxy = deps.publicUrl === null;
  /** The channel of the round trip under way. */
  let webhookProxyUrl = deps.webhookProxyUrl;

  routes.use(securityHeaders(new URL(deps.serverUrl).origin));
  routes.use(bodyLimit({ maxSize: 16 * 1024 }));
  routes.get('/', (c) => c.redirect('/setup', 303));
  routes.get('/healthz', (c) => c.json({ status: 'waits to be registered' }));

  routes.get('/setup', (c) => {
    const token = c.req.query('token');
    if (token !== undefined) return openWithToken(c, deps, token);
    if (!isOpen(c, deps.gate)) return c.html(needsToken(), 401);
    return c.html(choicesPage({ organization: '', webhookProxyUrl: webhookProxyUrl ?? '' }, asksProxy, null));
  });

  routes.post('/setup', async (c) => {
    if (!isOpen(c, deps.gate)) return c.html(needsToken(), 401);
    const choices = readChoices(await c.req.parseBody());
    const wrong = judgeChoices(choices, asksProxy && !isLocal(deps.serverUrl));
    if (wrong !== null) return c.html(choicesPage(choices, asksProxy, wrong), 422);
    webhookProxyUrl = asksProxy ? choices.webhookProxyUrl || null : deps.webhookProxyUrl;
    const manifest = makeManifest(appFile, { base: deps.base, webhookProxyUrl });
    const owner =
      choices.organization === '' ? '' : `/organizations/${encodeURIComponent(choices.organization)}`;
    const action = `${deps.serverUrl}${owner}/settings/apps/new?state=${deps.gate.newState()}`;
    return c.html(confirmPage({ action, manifest }));
  });

  routes.get('/setup/callback', async (c) => {
    if (!isOpen(c, deps.gate)) return c.html(needsToken(), 401);
    const { code = '', state = '' } = c.req.query();
    if (!deps.gate.takeState(state) || !/^[\w.-]{1,200}$/.test(code)) {
      return c.html(
        wrongPage('Not this one', 'This answer does not belong to the registration under way.', true),
        403,
      );
    }
    return finish(c, deps, code, webhookProxyUrl);
  });
  return routes;
}

async function finish(c: Ctx, deps: RouteDeps, code: string, webhookProxyUrl: string | null) {
  try {
    const credentials = await convertCode(deps.apiUrl, code, webhookProxyUrl);
    await storeCredentials(deps.dataDir, credentials);
    c.env.outgoing.once('close', () => deps.registered(credentials));
    c.header('connection', 'close');
    return c.html(donePage(credentials.htmlUrl ?? ''));
  } catch (error) {
    if (!isLaneError(error)) throw error;
    return c.html(wrongPage('That did not work', error.message, true), 502);
  }
}

/** The token leaves the address at once, and works once. */
function openWithToken(c: Ctx, { gate, base }: RouteDeps, token: string) {
  const session = gate.redeem(token);
  if (session === null && !isOpen(c, gate)) return c.html(needsToken(), 403);
  if (session !== null) {
    setCookie(c, cookieName, session, {
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      secure: base.startsWith('https:'),
    });
  }
  return c.redirect('/setup', 303);
}

function isOpen(c: Ctx, gate: Gate): boolean {
  return gate.isSession(getCookie(c, cookieName));
}

function needsToken() {
  const text =
    'Open the address that was printed in the terminal, in the browser where you first opened it: it works once. ' +
    'Start Lanekeeper again for a new one.';
  return wrongPage('Closed', text, false);
}

function readChoices(form: Record<string, unknown>): Choices {
  const field = (name: string) => {
    const value = form[name];
    return typeof value === 'string' ? value.trim() : '';
  };
  return { organization: field('organization'), webhookProxyUrl: field('proxy') };
}

function judgeChoices({ organization, webhookProxyUrl }: Choices, needsProxy: boolean): string | null {
  if (!/^(?:[A-Za-z0-9][A-Za-z0-9-]{0,38})?$/.test(organization))
    return 'That is not the name of an organisation.';
  if (webhookProxyUrl === '') {
    return needsProxy ? 'GitHub cannot reach this machine: give the address of a webhook channel.' : null;
  }
  const good = URL.canParse(webhookProxyUrl) && /^https?:$/.test(new URL(webhookProxyUrl).protocol);
  return good ? null : 'The webhook channel must be an address that begins with https://.';
}

/** A GitHub on this very machine reaches us without any help. */
function isLocal(url: string): boolean {
  return /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname);
}

function securityHeaders(serverOrigin: string) {
  const policy = contentSecurityPolicy(serverOrigin);
  return async (c: Ctx, next: () => Promise<void>) => {
    await next();
    c.header('content-security-policy', policy);
    c.header('referrer-policy', 'no-referrer');
    c.header('cache-control', 'no-store');
    c.header('x-content-type-options', 'nosniff');
  };
}
