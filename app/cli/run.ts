/** How a command ends: 0 good, 1 found wrong or not possible, 2 bad usage. A known refusal is its line, no more. */
import type { Command } from 'commander';
import { isLaneError } from '../../lanes/index.ts';
import { isConfigError } from '../config/problems.ts';

/** Runs a command's work and turns a known refusal into a line on stderr and an exit code. */
export async function refusing(command: Command, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isLaneError(error)) throw error;
    sayWhy(command.name(), error);
    process.exitCode = error.code === 'invalid_config' ? 2 : 1;
  }
}

/** What is wrong, a line for each thing. */
export function linesOf(error: unknown): readonly string[] {
  if (isConfigError(error)) return error.problems;
  if (isLaneError(error)) return [error.message];
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}

/** Says why a command cannot go on. Known refusals are their lines; anything else is a fault of ours and keeps its stack. */
export function sayWhy(name: string, error: unknown): void {
  for (const line of linesOf(error)) process.stderr.write(`${name}: ${line}\n`);
}
