/** Who comes with a worker token. The file is read again whenever it changed, so that a revocation holds at once. */
import { timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Logger } from 'pino';
import { hashToken, readTokens, type TokenRecord, tokenFile } from './token-file.ts';

/** What a credential proves. A revoked one still tells whose it was. */
export type Identity =
  | { readonly kind: 'worker'; readonly worker: string }
  | { readonly kind: 'revoked'; readonly worker: string }
  | { readonly kind: 'unknown' };

export interface TokenCheck {
  /** Whether there is any token. */
  any(): boolean;
  /** Reads the value of an `Authorization` header. */
  identify(authorization: string | undefined): Identity;
}

const bearer = /^bearer (lkw_([0-9a-f]{8})_[A-Za-z0-9_-]{43})$/i;
const unknown: Identity = { kind: 'unknown' };

/** @param log hears of a file that cannot be used; nobody is let in then */
export function makeTokenCheck(dataDir: string, log: Pick<Logger, 'error'>): TokenCheck {
  const file = tokenFile(dataDir);
  let seen = '';
  let known = new Map<string, TokenRecord>();

  const look = (): ReadonlyMap<string, TokenRecord> => {
    const stamp = stampOf(file);
    if (stamp === seen) return known;
    try {
      known = new Map(readTokens(dataDir).map((token) => [token.id, token]));
    } catch (error) {
      known = new Map();
      log.error({ err: error }, 'the worker tokens cannot be read: no box is let in');
    }
    seen = stamp;
    return known;
  };

  return {
    any: () => look().size > 0,
    identify(authorization) {
      const [, token = '', id = ''] = bearer.exec(authorization ?? '') ?? [];
      const record = look().get(id);
      const hash = hashToken(token);
      // Compared with itself where there is no such token: it takes as long.
      const same = timingSafeEqual(hash, record === undefined ? hash : Buffer.from(record.sha256, 'hex'));
      if (record === undefined || !same) return unknown;
      return { kind: record.revokedAt === undefined ? 'worker' : 'revoked', worker: record.worker };
    },
  };
}

/** Changes whenever the file does; empty never: a missing file has a stamp too. */
function stampOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? 'none' : `${stat.mtimeNs} ${stat.ctimeNs} ${stat.size} ${stat.ino}`;
}
