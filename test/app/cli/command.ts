/** Runs one command of the CLI in this process, on a data directory: a process of its own costs seconds. */
import { Command, CommanderError } from 'commander';
import { vi } from 'vitest';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** As `main.ts` would: what it printed, and its exit code. Not for two at once. */
export async function runCommand(dataDir: string, command: Command, ...args: string[]): Promise<Ran> {
  const said = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      said[stream] += String(text);
      return true;
    }),
  );
  vi.stubEnv('LANES_DATA_DIR', dataDir);
  vi.stubEnv('LANES_WORKER_NAME', 'worker-a');
  const before = process.exitCode;
  process.exitCode = 0;
  for (const one of [command, ...command.commands]) one.exitOverride();
  try {
    await new Command()
      .exitOverride()
      .addCommand(command)
      .parseAsync([command.name(), ...args], { from: 'user' });
    return { ...said, code: Number(process.exitCode) };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { ...said, code: error.exitCode === 0 ? 0 : 2 };
  } finally {
    process.exitCode = before;
    vi.unstubAllEnvs();
    for (const spy of spies) spy.mockRestore();
  }
}
