/**
 * What the stand-in's own tests share: a receiver that verifies signatures, the App's clients, and git.
 */

import { createPrivateKey, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Webhooks } from '@octokit/webhooks';
import { execa } from 'execa';
import { Probot, ProbotOctokit } from 'probot';
import { isObject, type JsonObject, textAt } from './github/call.ts';
import { closeServer } from './github/server.ts';
import type { GitHubStandIn } from './github.ts';

interface Received {
  guid: string;
  event: string;
  /** `issues.labeled`, say. */
  name: string;
  signed: boolean;
  headers: Record<string, string>;
  payload: JsonObject;
}

export interface Receiver {
  url: string;
  received: Received[];
  names(): string[];
  /** The status it answers with from now on. */
  answerWith(status: number): void;
  close(): Promise<void>;
}

/** A small HTTP server that takes deliveries and checks each signature with @octokit/webhooks. */
export async function startReceiver(secret: string): Promise<Receiver> {
  const webhooks = new Webhooks({ secret });
  const received: Received[] = [];
  let status = 202;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString('utf8');
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([key, value]) => [key, String(value)]),
    );
    const payload: unknown = JSON.parse(text);
    const event = headers['x-github-event'] ?? '';
    received.push({
      guid: headers['x-github-delivery'] ?? '',
      event,
      name: `${event}.${textAt(payload, 'action')}`,
      signed: await webhooks.verify(text, headers['x-hub-signature-256'] ?? ''),
      headers,
      payload: isObject(payload) ? payload : {},
    });
    response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  return {
    url: `http://127.0.0.1:${typeof bound === 'object' && bound ? bound.port : 0}/hook`,
    received,
    names: () => received.map((one) => one.name),
    answerWith: (next) => {
      status = next;
    },
    close: () => closeServer(server),
  };
}

const Plain = ProbotOctokit.defaults((options: object) => ({
  ...options,
  throttle: { enabled: false },
  retry: { enabled: false },
}));

/** The App's own client (JWT), or an installation's, made by probot as the product makes it. */
export function appClient(github: GitHubStandIn, installationId?: number): Promise<ProbotOctokit> {
  const { appId, privateKey, url: baseUrl } = github;
  const probot = new Probot({
    appId,
    privateKey,
    baseUrl,
    Octokit: Plain,
    logLevel: 'fatal',
    secret: 'unused',
  });
  return installationId === undefined ? probot.auth() : probot.auth(installationId);
}

/** A JWT of the App with the given times, in seconds from `nowS`. */
export function jwtOf(github: GitHubStandIn, nowS: number, times: { iat: number; exp: number }): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { iss: github.appId, iat: nowS + times.iat, exp: nowS + times.exp };
  const text = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), createPrivateKey(github.privateKey)).toString('base64url')}`;
}

/** Runs git with a token for the stand-in, if one is given; never asks for anything. */
export async function git(cwd: string, args: string[], token?: string) {
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
  const identity = { GIT_AUTHOR_NAME: 'm', GIT_AUTHOR_EMAIL: 'm@example.test' };
  const committer = { GIT_COMMITTER_NAME: 'm', GIT_COMMITTER_EMAIL: 'm@example.test' };
  const header = {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
  };
  return execa('git', args, {
    cwd,
    reject: false,
    env: { ...identity, ...committer, GIT_TERMINAL_PROMPT: '0', ...(token ? header : {}) },
  });
}

/** The status of a request that is meant to fail; 0 if it did not. */
export async function statusOf(work: Promise<unknown>): Promise<number> {
  try {
    await work;
    return 0;
  } catch (error) {
    return isObject(error) || error instanceof Error ? Number(Reflect.get(error, 'status')) : -1;
  }
}
