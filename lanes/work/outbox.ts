/** The outbox: durable storage on the worker that patches stream into, each with its receipt. */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type CaptureKind, captureKindSchema, type Receipt, receiptSchema } from '../records/copies.ts';
import { hashFile } from './capture/hash.ts';
import { readIfThere } from './files.ts';
import type { Workplace } from './workplace.ts';

export interface OutboxPaths {
  temporary: string;
  patch: string;
  receipt: string;
  /** Of a checkpoint that is about to replace an older one. */
  nextReceipt: string;
}

const RECEIPT_NAME = /^(?<id>.+)\.(?<kind>result|salvage|checkpoint)\.receipt\.json$/;

export function outboxPaths(place: Workplace, id: string, kind: CaptureKind = 'result'): OutboxPaths {
  return {
    temporary: join(place.outboxDir, 'tmp', `${id}.${kind}.patch`),
    patch: join(place.outboxDir, `${id}.${kind}.patch`),
    receipt: join(place.outboxDir, `${id}.${kind}.receipt.json`),
    nextReceipt: join(place.outboxDir, 'tmp', `${id}.${kind}.receipt.json`),
  };
}

/** Where a file too big for a patch is kept. */
export function blobPath(place: Workplace, id: string, object: string): string {
  return join(place.outboxDir, `${id}.result.${object}.blob`);
}

/** Where an archive that a capture keeps beside its patch lies. */
export function archivePath(place: Workplace, id: string, kind: CaptureKind, sha256: string): string {
  return join(place.outboxDir, `${id}.${kind}.${sha256}.tar`);
}

/** The receipt of a copy, or null if nothing was captured. Throws if the file is damaged. */
export async function readReceipt(
  place: Workplace,
  id: string,
  kind: CaptureKind = 'result',
): Promise<Receipt | null> {
  const paths = outboxPaths(place, id, kind);
  if (kind === 'checkpoint') return await readCheckpoint(paths);
  return await readReceiptAt(paths.receipt);
}

async function readReceiptAt(path: string): Promise<Receipt | null> {
  const text = await readIfThere(path);
  return text === null ? null : receiptSchema.parse(JSON.parse(text));
}

/** A kill between the two renames of a checkpoint leaves its patch with the receipt of the one before. */
async function readCheckpoint(paths: OutboxPaths): Promise<Receipt | null> {
  const [next, last] = await Promise.all([
    readReceiptAt(paths.nextReceipt).catch(() => null),
    readReceiptAt(paths.receipt),
  ]);
  if (next === null) return last;
  const there = await hashFile(paths.patch).catch(() => null);
  return there?.sha256 === next.sha256 ? next : last;
}

/** The receipts of a task, and of one run of it where given, the one that counts last. A damaged receipt is passed over. */
export async function findReceipts(place: Workplace, task: string, run?: number): Promise<Receipt[]> {
  const found: Receipt[] = [];
  for (const name of await readdir(place.outboxDir)) {
    const { id, kind } = RECEIPT_NAME.exec(name)?.groups ?? {};
    if (id === undefined) continue;
    const receipt = await readReceipt(place, id, captureKindSchema.parse(kind)).catch(() => null);
    if (receipt?.task === task && (run === undefined || receipt.run === run)) found.push(receipt);
  }
  return found.sort((a, b) => a.run - b.run || rank(a) - rank(b) || a.at - b.at);
}

/** Of one run, what was captured later holds more: its checkpoint, what was saved of it, what it gave back itself. */
function rank({ kind }: Receipt): number {
  return ['checkpoint', 'salvage', 'result'].indexOf(kind);
}

/** Where the patch of a copy lies. */
export function patchFile(place: Workplace, copy: string, kind: CaptureKind = 'result'): string {
  return outboxPaths(place, copy, kind).patch;
}

/** The patch that a receipt is for, as a stream. */
export function openPatch(place: Workplace, receipt: Receipt): Readable {
  return createReadStream(patchFile(place, receipt.copy, receipt.kind));
}
