/** The outbox: durable storage on the worker that patches stream into, each with its receipt. */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type Receipt, receiptSchema } from '../records/copies.ts';
import { readIfThere } from './files.ts';
import type { Workplace } from './workplace.ts';

export interface OutboxPaths {
  temporary: string;
  patch: string;
  receipt: string;
}

const RECEIPT_ENDING = '.result.receipt.json';

export function outboxPaths(place: Workplace, id: string): OutboxPaths {
  return {
    temporary: join(place.outboxDir, 'tmp', `${id}.result.patch`),
    patch: join(place.outboxDir, `${id}.result.patch`),
    receipt: join(place.outboxDir, `${id}${RECEIPT_ENDING}`),
  };
}

/** Where a file too big for a patch is kept. */
export function blobPath(place: Workplace, id: string, object: string): string {
  return join(place.outboxDir, `${id}.result.${object}.blob`);
}

/** The receipt of a copy, or null if nothing was captured. Throws if the file is damaged. */
export async function readReceipt(place: Workplace, id: string): Promise<Receipt | null> {
  const text = await readIfThere(outboxPaths(place, id).receipt);
  return text === null ? null : receiptSchema.parse(JSON.parse(text));
}

/** The receipts of a task, and of one run of it where given, oldest first. A damaged receipt is passed over. */
export async function findReceipts(place: Workplace, task: string, run?: number): Promise<Receipt[]> {
  const names = (await readdir(place.outboxDir)).filter((name) => name.endsWith(RECEIPT_ENDING));
  const found: Receipt[] = [];
  for (const name of names) {
    const receipt = await readReceipt(place, name.slice(0, -RECEIPT_ENDING.length)).catch(() => null);
    if (receipt?.task === task && (run === undefined || receipt.run === run)) found.push(receipt);
  }
  return found.sort((a, b) => a.run - b.run || a.at - b.at);
}

/** The patch that a receipt is for, as a stream. */
export function openPatch(place: Workplace, receipt: Receipt): Readable {
  return createReadStream(outboxPaths(place, receipt.copy).patch);
}
