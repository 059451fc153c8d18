/**
 * The auditor: holds the truth log against what can still be had. It reads files by their names and asks the product
 * for nothing, so that it cannot share a mistake with it.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CopyRecord,
  copyRecordSchema,
  type Receipt,
  receiptSchema,
} from '../../lanes/records/copies.ts';
import type { PatchFiles } from './patches.ts';
import type { Acknowledged } from './truth.ts';

export interface RunAudit {
  readonly task: string;
  readonly writes: readonly Acknowledged[];
  /** Acknowledged, and nowhere to be had. */
  readonly lost: readonly Acknowledged[];
  /** Whether its own supervisor came so far as to capture it. */
  readonly captured: boolean;
}

/** A file that no agent touches: where it is missing, another missing file proves nothing. */
export const sentinel = 'doomed/keep';

/** Looks for every acknowledged write in the outbox, and in the copies that are still there. */
export async function auditRuns(
  dataDir: string,
  tasks: ReadonlyMap<string, readonly Acknowledged[]>,
  patches: PatchFiles,
): Promise<RunAudit[]> {
  const receipts = await readReceipts(join(dataDir, 'outbox'));
  const copies = await readCopies(join(dataDir, 'copies'));
  const audits: RunAudit[] = [];
  for (const [task, writes] of tasks) {
    const own = receipts.filter((receipt) => receipt.task === task);
    // A checkpoint bounds what a machine failure costs; it does not end a run, so it is no excuse for a loss.
    const kept = own.filter(({ kind }) => kind !== 'checkpoint');
    const folders = copies.get(task) ?? [];
    let lost = await missingFrom(folders, task, writes);
    for (const { copy, kind, ...receipt } of kept) {
      if (lost.length === 0) break;
      const folder = await patches.unfold(join(dataDir, 'outbox', `${copy}.${kind}.patch`), receipt);
      if (folder === null) continue;
      lost = await missingFrom([folder], task, lost);
      await rm(folder, { recursive: true });
    }
    audits.push({ task, writes, lost, captured: kept.some(({ kind }) => kind === 'result') });
  }
  return audits;
}

async function readReceipts(outbox: string): Promise<Receipt[]> {
  const names = (await readdir(outbox)).filter((name) => name.endsWith('.receipt.json'));
  const texts = await Promise.all(names.map((name) => readFile(join(outbox, name), 'utf8')));
  return texts.map((text) => receiptSchema.parse(JSON.parse(text)));
}

/** Folders with the files of a task's copies, wherever a removal has moved them. */
async function readCopies(copies: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const id of await readdir(join(copies, 'ctl'))) {
    const text = await readFile(join(copies, 'ctl', id, 'record.json'), 'utf8').catch(() => null);
    if (text === null) continue;
    const { task }: CopyRecord = copyRecordSchema.parse(JSON.parse(text));
    const folders = ['work', 'grave']
      .map((name) => join(copies, name, id))
      .filter((path) => existsSync(path));
    found.set(task, [...(found.get(task) ?? []), ...folders]);
  }
  return found;
}

/** Those of the writes that none of the folders holds. */
async function missingFrom(
  folders: readonly string[],
  task: string,
  writes: readonly Acknowledged[],
): Promise<readonly Acknowledged[]> {
  let missing = [...writes];
  for (const folder of folders.filter((path) => existsSync(join(path, sentinel)))) {
    const there = await Promise.all(missing.map((write) => isThere(folder, task, write)));
    missing = missing.filter((_, index) => !there[index]);
  }
  return missing;
}

/** Whether a file is as a write left it; later writes of the run may have added to it or replaced it. */
async function isThere(folder: string, task: string, { kind, path, n }: Acknowledged): Promise<boolean> {
  const text = await readFile(join(folder, path), 'utf8').catch(() => null);
  if (kind === 'remove') return text === null;
  if (text === null) return false;
  const line = `${task} write ${n} of this run\n`;
  if (kind === 'create') return text === line.repeat(9 * n);
  if (kind === 'append') return text.includes(`\n${line}`);
  const [, by, last] = /^(\S+) write (\d+) of this run\n$/.exec(text) ?? [];
  return by === task && Number(last) >= n;
}
