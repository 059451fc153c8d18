/**
 * The Apps, where they are installed, and the tokens they minted.
 *
 * Each App takes a slot of emulate; slug, key, secrets, permissions and installations are this room's own.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { Refusal } from './call.ts';
import { appIdOf, makeKey, slotCount, slotName, upstreamIdOf } from './slots.ts';

export type Permissions = Record<string, string>;

export interface AppRecord {
  id: number;
  slot: string;
  slug: string;
  name: string;
  description: string | null;
  externalUrl: string;
  clientId: string;
  clientSecret: string;
  privateKey: string;
  publicKey: KeyObject;
  webhookSecret: string;
  hookUrl: string | null;
  permissions: Permissions;
  events: string[];
  createdAt: string;
}

export interface InstallationRecord {
  id: number;
  app: AppRecord;
  account: string;
  /** Which of emulate's seeded installations stands behind it. */
  upstreamId: number;
  selection: 'all' | 'selected';
  repositoryIds: Set<number>;
  suspendedAt: string | null;
  createdAt: string;
}

export interface TokenRecord {
  token: string;
  installation: InstallationRecord;
  permissions: Permissions;
  /** Repository ids the token is narrowed to; null means all of the installation. */
  repositoryIds: number[] | null;
  expiresAtMs: number;
}

export interface AppWish {
  name: string;
  slug: string;
  hookUrl: string | null;
  permissions: Permissions;
  events: string[];
  description?: string | null;
  externalUrl?: string;
}

export interface AppTools {
  owners: readonly string[];
  now: () => number;
  /** A fresh random text of 40 hexadecimal digits. */
  secret: () => string;
}

/** The registry of Apps, installations and tokens. */
export class AppBook {
  readonly apps: AppRecord[] = [];
  readonly installations: InstallationRecord[] = [];
  readonly #tokens = new Map<string, TokenRecord>();
  readonly #tools: AppTools;
  #nextInstallation = 50_001;

  constructor(tools: AppTools) {
    this.#tools = tools;
  }

  /** Registers an App. A slug that is taken gets a number. Throws 422 when no slot is left. */
  register(wish: AppWish): AppRecord {
    const index = this.apps.length;
    if (index >= slotCount) throw new Refusal(422, `The stand-in holds ${slotCount} Apps; start a new one`);
    const taken = new Set(this.apps.map((app) => app.slug));
    let slug = wish.slug;
    for (let n = 2; taken.has(slug); n++) slug = `${wish.slug}-${n}`;
    const { secret, now } = this.#tools;
    const privateKey = makeKey();
    const app: AppRecord = {
      ...wish,
      id: appIdOf(index + 1),
      slot: slotName(index + 1),
      slug,
      description: wish.description ?? null,
      externalUrl: wish.externalUrl ?? '',
      clientId: `Iv23${secret().slice(0, 16)}`,
      clientSecret: secret(),
      privateKey,
      publicKey: createPublicKey(privateKey),
      webhookSecret: secret(),
      permissions: { metadata: 'read', ...wish.permissions },
      createdAt: isoSecond(now()),
    };
    this.apps.push(app);
    return app;
  }

  /** Installs an App on an owner, with a new installation id; throws 404 for an unknown owner, 422 if it is there. */
  install(app: AppRecord, account: string, repositoryIds?: number[]): InstallationRecord {
    const owner = this.#tools.owners.indexOf(account);
    if (owner < 0) throw new Refusal(404, `No such owner: ${account}`);
    if (this.installations.some((one) => one.app === app && one.account === account)) {
      throw new Refusal(422, `${app.slug} is installed on ${account} already`);
    }
    const installation: InstallationRecord = {
      id: this.#nextInstallation++,
      app,
      account,
      upstreamId: upstreamIdOf(this.apps.indexOf(app) + 1, owner),
      selection: repositoryIds ? 'selected' : 'all',
      repositoryIds: new Set(repositoryIds ?? []),
      suspendedAt: null,
      createdAt: isoSecond(this.#tools.now()),
    };
    this.installations.push(installation);
    return installation;
  }

  /** Takes an installation away; its tokens die with it. */
  uninstall(installation: InstallationRecord): void {
    this.installations.splice(this.installations.indexOf(installation), 1);
    for (const [token, record] of this.#tokens) {
      if (record.installation === installation) this.#tokens.delete(token);
    }
  }

  addToken(record: TokenRecord): void {
    this.#tokens.set(record.token, record);
  }

  dropToken(token: string): void {
    this.#tokens.delete(token);
  }

  /** The token's record while it lives. */
  token(token: string): TokenRecord | undefined {
    const record = this.#tokens.get(token);
    return record && record.expiresAtMs > this.#tools.now() ? record : undefined;
  }
}

/** True if the installation reaches the repository. */
export function covers(installation: InstallationRecord, owner: string, repositoryId: number): boolean {
  if (installation.account !== owner || installation.suspendedAt !== null) return false;
  return installation.selection === 'all' || installation.repositoryIds.has(repositoryId);
}

/** Time in GitHub's form, which has whole seconds. */
function isoSecond(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
