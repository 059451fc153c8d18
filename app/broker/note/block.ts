/**
 * The hidden first line of a note: `<!-- lanekeeper:note v1 <payload> <signature> -->`. The payload is deflated JSON in
 * base64url, the signature an HMAC-SHA256 over the version and the payload.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Note, noteSchema } from '../../../lanes/records/notes.ts';
import type { NoteKey } from './key.ts';

/** Why a text is not a note that we can trust. */
export type UnreadableNote =
  | 'too_long'
  | 'no_block'
  | 'unknown_version'
  | 'damaged'
  | 'bad_signature'
  | 'invalid_content';

export type OpenedBlock = { ok: true; note: Note } | { ok: false; why: UnreadableNote };

/** GitHub's limit for a comment. */
const maxBodyChars = 65_536;
/** The largest block inflates to a fifth of this; more is a bomb. */
const maxJsonBytes = 1_000_000;

const anyVersion = /^<!-- lanekeeper:note v(\d{1,6})(?: |$)/;
const block = /^<!-- lanekeeper:note v1 ([A-Za-z0-9_-]{1,65536}) ([A-Za-z0-9_-]{43}) -->$/;

function sign(payload: string, key: NoteKey): Uint8Array {
  return createHmac('sha256', key).update(`lanekeeper:note v1 ${payload}`).digest();
}

/** The block's line, without a line ending. The note must already be redacted. */
export function encodeBlock(note: Note, key: NoteKey): string {
  const payload = deflateRawSync(JSON.stringify(note), { level: 9 }).toString('base64url');
  return `<!-- lanekeeper:note v1 ${payload} ${Buffer.from(sign(payload, key)).toString('base64url')} -->`;
}

/**
 * Opens the block on the first line of a comment. The signature is compared in constant time with each key before
 * anything is inflated, and inflating is bounded. Never throws.
 */
export function openBlock(body: string, keys: readonly NoteKey[]): OpenedBlock {
  if (body.length > maxBodyChars) return { ok: false, why: 'too_long' };
  const line = firstLine(body);
  const version = anyVersion.exec(line)?.[1];
  if (version === undefined) return { ok: false, why: 'no_block' };
  if (version !== '1') return { ok: false, why: 'unknown_version' };
  const [, payload, signature] = block.exec(line) ?? [];
  if (payload === undefined || signature === undefined) return { ok: false, why: 'damaged' };
  const given = Buffer.from(signature, 'base64url');
  const holds = keys.some((key) => {
    const wanted = sign(payload, key);
    return wanted.length === given.length && timingSafeEqual(wanted, given);
  });
  if (!holds) return { ok: false, why: 'bad_signature' };
  const note = parsePayload(payload);
  return note === undefined ? { ok: false, why: 'invalid_content' } : { ok: true, note };
}

function firstLine(body: string): string {
  const end = body.search(/\r?\n/);
  return (end === -1 ? body : body.slice(0, end)).trimEnd();
}

function parsePayload(payload: string): Note | undefined {
  try {
    const json = inflateRawSync(Buffer.from(payload, 'base64url'), { maxOutputLength: maxJsonBytes });
    return noteSchema.parse(JSON.parse(json.toString('utf8')));
  } catch {
    return undefined;
  }
}
