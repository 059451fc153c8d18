/**
 * Worker tokens as they are kept: `<data>/worker-tokens.json`, for our user's eyes only. It holds hashes; a token itself is
 * shown once, to whoever adds it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { LaneError, readSecretFile, waitLock, writeDurably } from '../../lanes/index.ts';

const tokenRecordSchema = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{8}$/),
  /** Who comes with it. */
  worker: z.string().min(1),
  /** Of the whole token, in hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.int().nonnegative(),
  revokedAt: z.int().nonnegative().optional(),
});
export type TokenRecord = z.infer<typeof tokenRecordSchema>;

const tokenFileSchema = z.strictObject({ v: z.literal(1), tokens: z.array(tokenRecordSchema) });

const lockWithinMs = 10_000;

/** Where the tokens of an installation are kept. */
export function tokenFile(dataDir: string): string {
  return join(dataDir, 'worker-tokens.json');
}

/** The hash of a token's text. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * All tokens, revoked ones too, oldest first.
 * @throws LaneError `invalid_config` where the file can be read by others or is damaged: then nobody is let in.
 */
export function readTokens(dataDir: string): TokenRecord[] {
  const file = tokenFile(dataDir);
  try {
    const text = readSecretFile(file);
    return text === null ? [] : tokenFileSchema.parse(JSON.parse(text)).tokens;
  } catch (error) {
    if (error instanceof LaneError) throw error;
    throw new LaneError('invalid_config', `${file} does not hold worker tokens`, { cause: error });
  }
}

/**
 * Makes a token for a worker. It is answered once and kept nowhere.
 * @throws LaneError `invalid_config`, `disk`.
 */
export async function addToken(
  dataDir: string,
  worker: string,
  nowMs: number,
): Promise<{ record: TokenRecord; token: string }> {
  return change(dataDir, (tokens) => {
    const id = freshId(tokens);
    const token = `lkw_${id}_${randomBytes(32).toString('base64url')}`;
    const record = { id, worker, sha256: hashToken(token).toString('hex'), createdAt: nowMs };
    return { tokens: [...tokens, record], answer: { record, token } };
  });
}

/**
 * Revokes a token; it stays in the list. A second time changes nothing. Null where there is none of this id.
 * @throws LaneError `invalid_config`, `disk`.
 */
export async function revokeToken(dataDir: string, id: string, nowMs: number): Promise<TokenRecord | null> {
  return change(dataDir, (tokens) => {
    const found = tokens.find((one) => one.id === id);
    if (found === undefined || found.revokedAt !== undefined) return { tokens, answer: found ?? null };
    const revoked = { ...found, revokedAt: nowMs };
    return { tokens: tokens.map((one) => (one === found ? revoked : one)), answer: revoked };
  });
}

function freshId(tokens: readonly TokenRecord[]): string {
  for (;;) {
    const id = randomBytes(4).toString('hex');
    if (tokens.every((one) => one.id !== id)) return id;
  }
}

/** One change at a time, under a kernel lock: of two at once neither is lost. */
async function change<T>(
  dataDir: string,
  work: (tokens: readonly TokenRecord[]) => { tokens: readonly TokenRecord[]; answer: T },
): Promise<T> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = tokenFile(dataDir);
  const lock = await waitLock(`${file}.lock`, lockWithinMs);
  try {
    const { tokens, answer } = work(readTokens(dataDir));
    await writeDurably(file, `${JSON.stringify({ v: 1, tokens }, null, 2)}\n`);
    return answer;
  } finally {
    await lock.release();
  }
}
