/**
 * A lease as it crosses to a box: what it says, and an HMAC over exactly that text. There is one algorithm, and the text
 * does not choose it. A text that is not one that we made opens to nothing.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { linkSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { demandPrivate, LaneError, type Lease, leaseClaimsSchema } from '../../lanes/index.ts';

export interface LeaseTexts {
  seal(lease: Lease): string;
  /** The lease that a text of ours says; null for every other text. Whether it still holds, the store says. */
  open(text: string): Lease | null;
}

const keyBytes = 32;
const maxCharacters = 2_000;
/** base64url of what it says, a dot, base64url of 32 bytes. */
const shape = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/;

export function makeLeaseTexts(key: Buffer): LeaseTexts {
  const sign = (said: string): string =>
    createHmac('sha256', key).update('lanekeeper lease 1\n').update(said).digest('base64url');
  return {
    seal({ namespace, task, run, fence, id, worker, epoch }) {
      const claims = { v: 1, namespace, task, run, fence, id, worker, epoch };
      const said = Buffer.from(JSON.stringify(claims)).toString('base64url');
      return `${said}.${sign(said)}`;
    },
    open(text) {
      if (text.length > maxCharacters) return null;
      const [, said, signature] = shape.exec(text) ?? [];
      if (said === undefined || signature === undefined) return null;
      // As texts, not as bytes: the last character of one has bits to spare.
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(sign(said)))) return null;
      const { v: _v, ...lease } = leaseClaimsSchema.parse(
        JSON.parse(Buffer.from(said, 'base64url').toString()),
      );
      return { ...lease, endsAtMs: 0 };
    },
  };
}

/**
 * The key of this installation's lease texts, `<data>/lease.key`, made where there is none.
 * @throws LaneError `invalid_config` for a file that is no such key or that others can read.
 */
export function loadLeaseKey(dataDir: string): Buffer {
  const file = join(dataDir, 'lease.key');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(8).toString('hex')}`;
  writeFileSync(draft, randomBytes(keyBytes), { mode: 0o600, flag: 'wx', flush: true });
  try {
    // A link never replaces: of two that start at once, the first one's key is the key.
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const stat = lstatSync(file);
  if (!stat.isFile() || stat.size !== keyBytes)
    throw new LaneError('invalid_config', `${file} is no key of ours`);
  demandPrivate(file, stat.mode);
  return readFileSync(file);
}
