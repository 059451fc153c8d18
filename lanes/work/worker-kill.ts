/**
 * Kills of a whole worker by the App that keeps it. The intent is durable before the signal, so that whoever finds the
 * worker's copies later can tell this death from one that nobody of ours wished.
 */
import { join } from 'node:path';
import type { Owner } from '../records/copies.ts';
import { type MachineEvent, machineEventSchema } from '../records/machine-events.ts';
import { isoWeek } from '../rules/iso-week.ts';
import { ownIdentity, startTimeOf } from './identity.ts';
import { parseLine, readLines } from './ledger-file.ts';
import { openMachineLedger } from './machine-ledger.ts';

export interface WorkerKill {
  readonly pid: number;
  /** The worker's instance name. */
  readonly instance: string;
  readonly signal: NodeJS.Signals;
  readonly why: string;
  readonly atMs: number;
}

/** Writes the intent into the machine's ledger of a data directory. A worker that is gone already needs none. Throws LaneError `disk`. */
export async function noteWorkerKill(dataDir: string, kill: WorkerKill): Promise<void> {
  const [startTime, { machineId, bootId }] = await Promise.all([startTimeOf(kill.pid), ownIdentity()]);
  if (startTime === null) return;
  const { pid, instance, signal, why, atMs } = kill;
  await openMachineLedger(join(dataDir, 'ledger')).append({
    ...{ v: 1, at: atMs, machineId, instance, event: 'worker_kill_intent' },
    ...{ pid, startTime, bootId, signal, why },
  });
}

const dayMs = 86_400_000;

/** Whether the machine's ledger has an intent of ours to kill this very process, written between two times. */
export async function killWasIntended(
  dataDir: string,
  owner: Pick<Owner, 'pid' | 'startTime' | 'bootId'>,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<boolean> {
  const weeks = new Set<string>();
  for (let at = fromMs; at < toMs; at += dayMs) weeks.add(isoWeek(at));
  weeks.add(isoWeek(toMs));
  for (const week of weeks) {
    const path = join(dataDir, 'ledger', `${week}.jsonl`);
    for await (const { text } of readLines(path)) {
      // Most lines are of something else, and need not be read.
      if (!text.includes('worker_kill_intent')) continue;
      const event = machineEventSchema.safeParse(parseLine(text));
      if (event.success && isKillOf(event.data, owner)) return true;
    }
  }
  return false;
}

function isKillOf(
  event: MachineEvent,
  { pid, startTime, bootId }: Pick<Owner, 'pid' | 'startTime' | 'bootId'>,
): boolean {
  if (event.event !== 'worker_kill_intent') return false;
  return event.pid === pid && event.startTime === startTime && event.bootId === bootId;
}
