/** Who a process is: enough to tell it from any other process that ever had its number. */
import { readFile, readlink } from 'node:fs/promises';
import type { ProcessIdentity } from '../records/copies.ts';

/** This process. `machineId` is `unknown` where the system has none; unknown never counts as "the same machine". */
export async function ownIdentity(): Promise<ProcessIdentity> {
  const [startTime, bootId, pidNs, machineId] = await Promise.all([
    startTimeOf(process.pid),
    readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    readlink('/proc/self/ns/pid'),
    readFile('/etc/machine-id', 'utf8').catch(() => 'unknown'),
  ]);
  return {
    pid: process.pid,
    startTime: startTime ?? 'unknown',
    bootId: bootId.trim(),
    pidNs,
    machineId: machineId.trim() || 'unknown',
  };
}

/** The start time of a process in clock ticks since boot (field 22 of proc(5) stat), or null if it is gone. */
export async function startTimeOf(pid: number): Promise<string | null> {
  const stat = await processStat(pid);
  return stat?.startTime ?? null;
}

export interface ProcessStat {
  state: string;
  parent: number;
  group: number;
  /** The number of its terminal, 0 where it has none. */
  terminal: number;
  startTime: string;
}

/** The parts of proc(5) stat that we use, or null if the process is gone. The name in it may hold anything. */
export async function processStat(pid: number): Promise<ProcessStat | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, , terminal] = fields;
  const startTime = fields[19];
  if (state === undefined || startTime === undefined) return null;
  return { state, parent: Number(parent), group: Number(group), terminal: Number(terminal), startTime };
}

/** The control group of a process as one line (cgroup v2, else the first of v1), or an empty text. */
export async function cgroupOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/cgroup`, 'latin1').catch(() => '');
  const lines = text.split('\n');
  return lines.find((line) => line.startsWith('0::')) ?? lines[0] ?? '';
}
