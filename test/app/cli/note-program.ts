/** A program with the note command alone, for tests of it as a process. Its argument before the command says the keys. */
import { Command, CommanderError } from 'commander';
import { noteCommand } from '../../../app/cli/note.ts';
import { LaneError } from '../../../lanes/errors.ts';
import { key, otherKey } from '../broker/note/support.ts';

const [, , which = '', ...args] = process.argv;

const command = noteCommand({
  loadKeys: async () => {
    if (which === 'broken') throw new LaneError('invalid_config', 'the key cannot be read');
    return which === 'none'
      ? []
      : which === 'rotated'
        ? [otherKey, key]
        : which === 'other'
          ? [otherKey]
          : [key];
  },
});
command.exitOverride();
try {
  await new Command('lanekeeper').exitOverride().addCommand(command).parseAsync(args, { from: 'user' });
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
