/** The set-up pages. hono's `html` escapes everything that is put in; there is no script in them. */
import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { AppFile } from './manifest.ts';

type Page = ReturnType<typeof html>;

const style = `
:root { color-scheme: light dark; --line: #8884; --accent: #1f6feb }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1.25rem }
h1 { font-size: 1.6rem; margin-bottom: .25rem } h2 { font-size: 1.1rem; margin-top: 2rem }
.step { color: #888; margin: 0 } .wrong { border-left: 4px solid #d1242f; padding: .5rem 1rem; background: #d1242f1a }
label { display: block; margin: 1.25rem 0 .25rem; font-weight: 600 } small { display: block; color: #888 }
input { box-sizing: border-box; width: 100%; padding: .5rem; font: inherit; border: 1px solid var(--line); border-radius: 6px }
button, .button { display: inline-block; margin-top: 1.5rem; padding: .6rem 1.2rem; border: 0; border-radius: 6px;
  background: var(--accent); color: #fff; font: inherit; font-weight: 600; text-decoration: none; cursor: pointer }
table { border-collapse: collapse; width: 100% } td { border-bottom: 1px solid var(--line); padding: .35rem 0 }
code { overflow-wrap: anywhere }
`;

/** What a browser may do with these pages: our one style, forms to us and to GitHub, nothing else. */
export function contentSecurityPolicy(serverOrigin: string): string {
  const hash = createHash('sha256').update(style).digest('base64');
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    `form-action 'self' ${serverOrigin}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function page(title: string, body: Page): Page {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} · Lanekeeper</title><style>${raw(style)}</style></head>
<body><main>${body}</main></body></html>`;
}

/** Something that cannot go on, and what to do. */
export function wrongPage(title: string, text: string, again: boolean): Page {
  return page(
    title,
    html`<h1>${title}</h1><p class="wrong">${text}</p>${again ? html`<a class="button" href="/setup">Start again</a>` : ''}`,
  );
}

export interface Choices {
  readonly organization: string;
  readonly webhookProxyUrl: string;
}

/** Step 1: whose App it is, and how webhooks get here. `asksProxy` where no public address is known. */
export function choicesPage(choices: Choices, asksProxy: boolean, wrong: string | null): Page {
  return page(
    'Set up',
    html`<p class="step">Step 1 of 2</p><h1>Register the GitHub App</h1>
<p>Lanekeeper runs as a GitHub App of your own. GitHub makes it from a description that you see before you confirm it.</p>
${wrong === null ? '' : html`<p class="wrong" role="alert">${wrong}</p>`}
<form method="post" action="/setup">
<label for="organization">Organisation</label>
<input id="organization" name="organization" value="${choices.organization}" autocomplete="off" autocapitalize="off">
<small>Leave it empty to register the App on your own account.</small>
${asksProxy ? proxyField(choices.webhookProxyUrl) : ''}
<button>Go on</button></form>`,
  );
}

function proxyField(value: string): Page {
  return html`<label for="proxy">Webhook channel</label>
<input id="proxy" name="proxy" value="${value}" placeholder="https://smee.io/…" autocomplete="off">
<small>GitHub must reach this machine, and LANES_PUBLIC_URL is not set. A smee channel passes webhooks on: open
<a href="https://smee.io/new" target="_blank" rel="noreferrer">smee.io/new</a> and paste its address. Whoever knows the
address can read the webhooks; for private repositories set LANES_PUBLIC_URL instead.</small>`;
}

export interface Confirmation {
  /** GitHub's page that takes the manifest. */
  readonly action: string;
  readonly manifest: { readonly hook_attributes: { readonly url: string } } & AppFile;
}

/** Step 2: what GitHub will be asked for. The button takes the manifest there. */
export function confirmPage({ action, manifest }: Confirmation): Page {
  const permissions = Object.entries(manifest.default_permissions);
  return page(
    'Set up',
    html`<p class="step">Step 2 of 2</p><h1>Create it on GitHub</h1>
<p>GitHub shows this once more, lets you change the name, and sends you back here.</p>
<h2>Permissions</h2>
<table>${permissions.map(([name, level]) => html`<tr><td>${name.replaceAll('_', ' ')}</td><td>${level}</td></tr>`)}</table>
<h2>Webhooks</h2><p>${manifest.default_events.join(', ')} to <code>${manifest.hook_attributes.url}</code></p>
<form method="post" action="${action}"><input type="hidden" name="manifest" value="${JSON.stringify(manifest)}">
<button>Create the App on GitHub</button></form>`,
  );
}

/** The end: the App exists, its credentials are stored. */
export function donePage(htmlUrl: string): Page {
  const install = /^https?:\/\//.test(htmlUrl) ? `${htmlUrl}/installations/new` : null;
  return page(
    'Registered',
    html`<h1>The App is registered</h1>
<p>Its credentials are stored, and Lanekeeper goes on by itself. You can close this page.</p>
<p>Now choose the repositories that it may work on.</p>
${install === null ? '' : html`<a class="button" href="${install}">Install the App</a>`}`,
  );
}
