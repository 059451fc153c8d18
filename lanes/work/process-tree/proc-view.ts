/**
 * Whether /proc shows every process that could belong to a run. A search in a /proc that hides some would say "nobody
 * is left" of a run that still writes; one of another pid namespace would name innocent processes.
 */
import { readFile } from 'node:fs/promises';

/** What a search in /proc is worth: `whole`, or why what it does not find means nothing. */
export type ProcView = 'whole' | 'hidden_processes' | 'other_namespace';

/** Reads afresh how /proc is mounted. What cannot be read counts as hidden. */
export async function procView(): Promise<ProcView> {
  const [mounts, status] = await Promise.all(
    ['/proc/self/mountinfo', '/proc/self/status'].map((path) => readFile(path, 'latin1').catch(() => '')),
  );
  return judgeProcView(mounts ?? '', status ?? '', process.pid);
}

/**
 * By proc(5): `NSpid` lists a process's numbers from the namespace of the mount inwards, so that in our own /proc we
 * have one number; the mount option `hidepid` other than 0 (or `off`) hides processes.
 */
export function judgeProcView(mountinfo: string, status: string, pid: number): ProcView {
  const numbers = /^NSpid:\s*(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
  if (numbers.length !== 1 || numbers[0] !== String(pid)) return 'other_namespace';
  // The last mount at a path covers those before it.
  const options = mountinfo
    .split('\n')
    .map((line) => line.split(' '))
    .filter((fields) => fields[4] === '/proc')
    .at(-1);
  if (!options) return 'hidden_processes';
  const hiding = options.flatMap((field) => field.split(',')).find((one) => one.startsWith('hidepid='));
  return hiding === undefined || /^hidepid=(?:0|off)$/.test(hiding) ? 'whole' : 'hidden_processes';
}
