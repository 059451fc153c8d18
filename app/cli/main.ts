#!/usr/bin/env node
/** The `lanekeeper` command. Data goes to stdout, everything else to stderr; exit 0 good, 1 found wrong, 2 bad usage. */
import { Command, CommanderError } from 'commander';
import { packageVersion } from '../package-root.ts';
import { commandsFor } from './commands.ts';

const commands = await commandsFor(process.argv.slice(2));
const program = new Command('lanekeeper')
  .description('agents on labelled issues, in lanes with enforced ownership')
  .version(packageVersion());
for (const command of commands) program.addCommand(command);
const all = [program, ...commands, ...commands.flatMap((command) => command.commands)];
for (const command of all) command.exitOverride().showHelpAfterError();

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Commander gives 1 to its own usage errors and 0 to help and version.
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
