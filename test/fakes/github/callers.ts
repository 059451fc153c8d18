/**
 * Who calls: personal tokens, installation tokens, and App JWTs under GitHub's strict rules.
 *
 * Rules: docs.github.com, "Generating a JSON Web Token (JWT) for a GitHub App": RS256, `exp` at most 10 minutes ahead.
 */
import { createPrivateKey, createVerify, sign } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { AppRecord } from './apps.ts';
import type { Call, Caller } from './call.ts';
import { isObject, Refusal } from './call.ts';
import type { World } from './world.ts';

const maxJwtLifeS = 600;
const clockDriftS = 5;

/** Reads the caller from the authorization header. Throws 401 for a credential that does not hold. */
export function callerOf(world: World, headers: IncomingHttpHeaders): Caller {
  const header = headers.authorization;
  if (!header) return { kind: 'anonymous' };
  const found = /^(bearer|token)\s+(\S+)$/i.exec(header);
  const credential = found?.[2];
  if (!credential) throw badCredentials();
  if (credential.startsWith('eyJ')) return { kind: 'app', app: appOfJwt(world, credential) };
  return callerOfToken(world, credential);
}

/** The person or installation behind a token. Throws 401 if there is none, 403 if it is suspended. */
export function callerOfToken(world: World, token: string): Caller {
  const person = Object.values(world.people).find((one) => one.token === token);
  if (person) return { kind: 'person', person };
  const record = world.apps.token(token);
  if (record?.installation.suspendedAt) throw new Refusal(403, 'This installation has been suspended');
  if (record) return { kind: 'installation', token: record };
  throw badCredentials();
}

/** The authorization header under which emulate knows this caller. */
export function innerAuthorization(world: World, call: Call): string | undefined {
  const { caller } = call;
  if (caller.kind === 'person') return `token ${caller.person.token}`;
  if (caller.kind === 'installation') return `token ${caller.token.token}`;
  if (caller.kind === 'app') return `Bearer ${innerJwt(world, caller.app)}`;
  return undefined;
}

function badCredentials(): Refusal {
  return new Refusal(401, 'Bad credentials');
}

function appOfJwt(world: World, jwt: string): AppRecord {
  const [head = '', payload = '', signature = ''] = jwt.split('.');
  const header = decode(head);
  const claims = decode(payload);
  if (!isObject(claims) || !isObject(header) || header.alg !== 'RS256') throw undecodable();
  const app = world.apps.apps.find(
    (one) => String(one.id) === String(claims.iss) || one.clientId === claims.iss,
  );
  if (!app) throw new Refusal(404, 'Integration not found');
  const verify = createVerify('RSA-SHA256').update(`${head}.${payload}`);
  if (!verify.verify(app.publicKey, signature, 'base64url')) throw undecodable();
  checkTimes(claims.iat, claims.exp, Math.floor(world.now() / 1000));
  return app;
}

function checkTimes(iat: unknown, exp: unknown, nowS: number): void {
  if (typeof exp !== 'number' || exp <= nowS) {
    throw new Refusal(
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time",
    );
  }
  if (exp > nowS + maxJwtLifeS) {
    throw new Refusal(401, "'Expiration time' claim ('exp') is too far in the future");
  }
  if (typeof iat !== 'number' || iat > nowS + clockDriftS) {
    throw new Refusal(
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time of the assertion",
    );
  }
}

function undecodable(): Refusal {
  return new Refusal(401, 'A JSON web token could not be decoded');
}

function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function innerJwt(world: World, app: AppRecord): string {
  const nowS = Math.floor(Date.now() / 1000);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ iat: nowS - 60, exp: nowS + 300, iss: app.id })}`;
  const signature = sign('RSA-SHA256', Buffer.from(text), createPrivateKey(world.innerKey));
  return `${text}.${signature.toString('base64url')}`;
}
