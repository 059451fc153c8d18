/**
 * The hidden first line of a note: `<!-- lanekeeper:note v1 <payload> <signature> -->`. The payload is deflated JSON in
 * base64url, the signature an HMAC-SHA256 over the version and the payload.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Note, noteSchema } from '../../../lanes/index.ts';
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
/** What a block may inflate to; more is a bomb. */
const maxJsonBytes = 1_000_000;

const anyVersion = /^<!-- lanekeeper:note v(\d{1,6})(?: |$)/;
const block = /^<!-- lanekeeper:note v1 ([A-Za-z0-9_-]{1,65536}) ([A-Za-z0-9_-]{43}) -->$/;

function sign(payload: string, key: NoteKey): string {
  return createHmac('sha256', key).update(`lanekeeper:note v1 ${payload}`).digest('base64url');
}

/**
 * The block's line, without a line ending; undefined if it were longer than `maxChars` or would not be opened again for
 * its inflated size. The note must already be redacted.
 */
export function encodeBlock(note: Note, key: NoteKey, maxChars: number): string | undefined {
  const json = Buffer.from(JSON.stringify(note));
  if (json.length > maxJsonBytes) return undefined;
  const payload = deflateRawSync(json, { level: 9 }).toString('base64url');
  const line = `<!-- lanekeeper:note v1 ${payload} ${sign(payload, key)} -->`;
  return line.length > maxChars ? undefined : line;
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
  // The texts are compared, not the bytes: base64 has several texts for the same bytes.
  const given = Buffer.from(signature);
  const holds = keys.some((key) => timingSafeEqual(Buffer.from(sign(payload, key)), given));
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
