/**
 * The Apps as emulate has them: it takes them at its start only, so it is seeded with slots.
 *
 * All slots trust one inner key and may do everything; the proxy checks and narrows what goes through.
 */
import { generateKeyPairSync } from 'node:crypto';
import type { Permissions } from './apps.ts';
import type { JsonObject } from './call.ts';

/** How many Apps one stand-in can hold. */
export const slotCount = 4;
const firstAppId = 1001;
export const appIdOf = (slot: number) => firstAppId + slot - 1;
/** What emulate may grant at most; the proxy narrows it to what each App asked for. */
const everything: Permissions = Object.fromEntries(
  ['issues', 'contents', 'metadata', 'pull_requests', 'checks', 'actions', 'administration', 'statuses'].map(
    (name) => [name, 'write'],
  ),
);

/** emulate's slug of a slot; slots count from 1. */
export const slotName = (slot: number) => `standin-slot-${slot}`;
/** emulate's id of the installation of a slot on an owner. */
export const upstreamIdOf = (slot: number, owner: number) => slot * 100 + owner;

/** The part of the permissions that emulate knows of; the rest exists on the proxy's side only. */
export function innerPermissions(permissions: Permissions): Permissions {
  return Object.fromEntries(Object.entries(permissions).filter(([name]) => everything[name] !== undefined));
}

/** The key that emulate trusts for every slot. */
export function makeKey(): string {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return pair.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
}

/** The `apps` part of emulate's seed: every slot, installed on every owner. */
export function slotSeed(innerKey: string, owners: readonly string[]): JsonObject[] {
  return Array.from({ length: slotCount }, (_none, index) => ({
    app_id: appIdOf(index + 1),
    slug: slotName(index + 1),
    name: slotName(index + 1),
    private_key: innerKey,
    permissions: everything,
    events: [],
    installations: owners.map((account, owner) => ({
      installation_id: upstreamIdOf(index + 1, owner),
      account,
      repository_selection: 'all',
      permissions: everything,
    })),
  }));
}

/** The bots' users, there from the start so that their ids never change. */
export function botSeed(): JsonObject[] {
  return Array.from({ length: slotCount }, (_none, index) => ({ login: `${slotName(index + 1)}[bot]` }));
}
