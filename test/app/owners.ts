/** Copies whose owner is another process, for tests of what workers and people do about them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { builtProgram } from '../support/programs.ts';

export interface OwnerProcess {
  readonly pid: number;
  /** The ids of its copies in each folder, in the order of their states. */
  readonly ids: readonly (readonly string[])[];
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export interface Owned {
  readonly dataDir: string;
  /** How far each copy is: see many-copies.ts. */
  readonly states: readonly ('ready' | 'worked' | 'captured')[];
}

/** Resolves when all the copies are there. The caller kills it. */
export async function startOwner(
  remote: string,
  instance: string,
  owned: readonly Owned[],
): Promise<OwnerProcess> {
  const folders = owned.map(({ dataDir, states }) => `${dataDir}:${states.join(',')}`);
  const args = [builtProgram('many-copies'), remote, instance, ...folders];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const first = await Promise.race([line, exited.then(() => null)]);
  if (first === null) throw new Error('the owner ended before its copies were there');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  return { pid: child.pid ?? 0, ids: JSON.parse(first[0]), kill };
}

/** Makes a copy's work impossible to capture: the private git directory of captures is gone. */
export function breakCapture(dataDir: string, id: string | undefined): void {
  rmSync(join(dataDir, 'copies', 'ctl', String(id), 'cap.git', 'HEAD'));
}
