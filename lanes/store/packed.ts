/**
 * Payloads as they are stored: deflated. GitHub's JSON shrinks to a tenth, and what a delivery costs Redis, in memory and
 * for each sync of the disk, is mostly its bytes. As base64, since answers are read as text.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Above this a payload stays as it is: deflating it would hold up everybody else. GitHub's are rarely larger than 100 KB. */
const mostChars = 1024 * 1024;
/** The fastest: the levels above gain little on JSON. */
const level = 1;

/** The field of an entry that holds a payload, and what is in it. */
export type PackedField = readonly [name: 'deflated' | 'payload', value: string];

/** How a payload is stored: deflated, or as it is where it is very large. */
export function packPayload(payload: string): PackedField {
  if (payload.length > mostChars) return ['payload', payload];
  return ['deflated', deflateRawSync(payload, { level }).toString('base64')];
}

/** The payload of an entry with these fields; undefined where it has none. @throws what is not deflated. */
export function unpackPayload(fields: Readonly<Record<string, string>>): string | undefined {
  if (fields.deflated === undefined) return fields.payload;
  // One character is at most four bytes.
  return inflateRawSync(Buffer.from(fields.deflated, 'base64'), {
    maxOutputLength: 4 * mostChars,
  }).toString();
}
