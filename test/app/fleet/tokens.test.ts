import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadLeaseKey } from '../../../app/fleet/lease-text.ts';
import { makeTokenCheck } from '../../../app/fleet/token-check.ts';
import { addToken, readTokens, revokeToken, tokenFile } from '../../../app/fleet/token-file.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'lanes-tokens-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const quiet = { error: () => {} };

test('a token is kept as a hash, in a file of our user alone', async () => {
  const { token, record } = await addToken(dataDir, 'box-42', 7);
  expect(token).toMatch(/^lkw_[0-9a-f]{8}_[A-Za-z0-9_-]{43}$/);
  expect(statSync(tokenFile(dataDir)).mode & 0o777).toBe(0o600);
  expect(readFileSync(tokenFile(dataDir), 'utf8')).not.toContain(token.slice(13));
  expect(readTokens(dataDir)).toEqual([record]);
  expect(record).toMatchObject({ worker: 'box-42', createdAt: 7 });
});

test('adding and revoking hold while a check is open', async () => {
  const check = makeTokenCheck(dataDir, quiet);
  expect(check.any()).toBe(false);
  const { token, record } = await addToken(dataDir, 'box-42', 1);
  expect(check.identify(`Bearer ${token}`)).toEqual({ kind: 'worker', worker: 'box-42' });
  await revokeToken(dataDir, record.id, 2);
  expect(check.identify(`Bearer ${token}`)).toEqual({ kind: 'revoked', worker: 'box-42' });
  expect(check.any()).toBe(true);
});

test('a secret with the id of another token proves nothing', async () => {
  const one = await addToken(dataDir, 'box-1', 1);
  const two = await addToken(dataDir, 'box-2', 1);
  const mixed = `lkw_${one.record.id}_${two.token.slice(13)}`;
  expect(makeTokenCheck(dataDir, quiet).identify(`Bearer ${mixed}`)).toEqual({ kind: 'unknown' });
});

test('of changes at once none is lost', async () => {
  const names = ['a', 'b', 'c', 'd'];
  const made = await Promise.all(names.map((name) => addToken(dataDir, name, 1)));
  await Promise.all(made.map(({ record }) => revokeToken(dataDir, record.id, 2)));
  const kept = readTokens(dataDir);
  expect(kept.map(({ worker }) => worker).sort()).toEqual(names);
  expect(kept.every(({ revokedAt }) => revokedAt === 2)).toBe(true);
});

test('a token is revoked once: the first time stays', async () => {
  const { record } = await addToken(dataDir, 'box-42', 1);
  await revokeToken(dataDir, record.id, 2);
  expect(await revokeToken(dataDir, record.id, 9)).toMatchObject({ revokedAt: 2 });
  expect(await revokeToken(dataDir, 'ffffffff', 9)).toBeNull();
});

test('a file that others can read, or that holds something else, is not believed', async () => {
  const { token } = await addToken(dataDir, 'box-42', 1);
  chmodSync(tokenFile(dataDir), 0o644);
  expect(() => readTokens(dataDir)).toThrow(/chmod 600/);
  expect(makeTokenCheck(dataDir, quiet).identify(`Bearer ${token}`)).toEqual({ kind: 'unknown' });
  rmSync(tokenFile(dataDir));
  writeFileSync(tokenFile(dataDir), '{"v":1,"tokens":[],"more":1}', { mode: 0o600 });
  expect(() => readTokens(dataDir)).toThrow(/does not hold worker tokens/);
});

test("the key of leases is made once, for our user's eyes only, and never replaced", () => {
  const key = loadLeaseKey(dataDir);
  expect(key).toHaveLength(32);
  expect(loadLeaseKey(dataDir)).toEqual(key);
  const file = join(dataDir, 'lease.key');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  chmodSync(file, 0o640);
  expect(() => loadLeaseKey(dataDir)).toThrow(/chmod 600/);
  chmodSync(file, 0o600);
  writeFileSync(file, 'short');
  expect(() => loadLeaseKey(dataDir)).toThrow(/no key of ours/);
});
