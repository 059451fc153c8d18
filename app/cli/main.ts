#!/usr/bin/env node
/** The `lanekeeper` command. Data goes to stdout, everything else to stderr; exit 0 good, 1 found wrong, 2 bad usage. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { noteKeys } from '../broker/note/index.ts';
import { readLocalConfig } from '../config.ts';
import { packageFile } from '../package-root.ts';
import { criteriaCommand } from './criteria.ts';
import { explainCommand } from './explain.ts';
import { noteCommand } from './note.ts';
import { patchCommand } from './patch.ts';
import { startCommand } from './start.ts';

const commands = [
  startCommand(),
  explainCommand(),
  patchCommand(),
  criteriaCommand(),
  noteCommand({ loadKeys: async () => noteKeys(readLocalConfig().noteKeys) }),
];

const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
const program = new Command('lanekeeper')
  .description('agents on labelled issues, in lanes with enforced ownership')
  .version(String(version));
for (const command of commands) program.addCommand(command);
for (const command of [program, ...commands]) command.exitOverride().showHelpAfterError();

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Commander gives 1 to its own usage errors and 0 to help and version.
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
