/** The key that signs the machine block of notes. */
import { createPrivateKey, hkdfSync } from 'node:crypto';
import { LaneError } from '../../../lanes/index.ts';

/** A signing key: HMAC-SHA256. Keep it out of logs and notes. */
export type NoteKey = Uint8Array;

/** Changing one of these two makes every note that was signed before unverifiable. */
const salt = 'lanekeeper';
const info = 'lanekeeper:note:v1';
const minKeyChars = 16;

/**
 * The signing key: the explicit one (its UTF-8 bytes, as they are), else 32 bytes derived by HKDF-SHA256 from the App's
 * private key. The derivation takes the key's PKCS#8 bytes, so that the same key in another PEM form signs the same.
 * @throws LaneError `invalid_config` for an explicit key of fewer than 16 characters or a PEM that is no private key.
 */
export function noteKey(source: { explicit?: string | undefined; privateKeyPem: string }): NoteKey {
  if (source.explicit !== undefined && source.explicit !== '') {
    if (source.explicit.length < minKeyChars) {
      throw new LaneError(
        'invalid_config',
        `the key that signs notes has fewer than ${minKeyChars} characters`,
      );
    }
    return new TextEncoder().encode(source.explicit);
  }
  return new Uint8Array(hkdfSync('sha256', privateKeyBytes(source.privateKeyPem), salt, info, 32));
}

/** Where the keys of this installation come from. */
export interface NoteKeySources {
  /** Explicit keys, the newest first; none where the private key's own is used. */
  readonly explicit: readonly string[];
  /** PEM; null where it is not known. */
  readonly privateKey: string | null;
}

/**
 * All keys that count, the one that signs first: the explicit ones, then the one that is derived from the private key,
 * which signed what was written before there was an explicit one.
 * @throws LaneError `invalid_config`, as `noteKey`
 */
export function noteKeys({ explicit, privateKey }: NoteKeySources): NoteKey[] {
  const keys = explicit.map((text) => noteKey({ explicit: text, privateKeyPem: '' }));
  return privateKey === null ? keys : [...keys, noteKey({ privateKeyPem: privateKey })];
}

function privateKeyBytes(pem: string): Uint8Array {
  try {
    return new Uint8Array(createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' }));
  } catch {
    // Without the cause: OpenSSL's own words about a key are no help, and nothing of a key belongs in an error.
    throw new LaneError('invalid_config', 'the private key of the App cannot be read as a PEM private key');
  }
}
