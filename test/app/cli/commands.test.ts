import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { commandNames, commandsFor } from '../../../app/cli/commands.ts';
import { commandLine } from '../../demo/lanekeeper.ts';

/** As a process: to load all of the program into a test takes many times as long. */
const run = async (...args: string[]) =>
  await execa(process.execPath, commandLine(args), { reject: false, env: { LANES_DATA_DIR: '/nowhere' } });

describe('the commands', () => {
  it('are all in the help, by the names that they are loaded by', async () => {
    const { stdout, exitCode } = await run('--help');
    const listed = [...stdout.matchAll(/^ {2}([a-z-]+) .*$/gm)].map(([, name]) => name);
    expect(listed.filter((name) => name !== 'help' && !name?.startsWith('-'))).toEqual(commandNames);
    expect(exitCode).toBe(0);
  });

  it('are told to whoever asks for an unknown one', async () => {
    const { stderr, exitCode } = await run('constructor');
    expect(stderr).toMatch(/unknown command 'constructor'[\s\S]* worker-token /);
    expect(exitCode).toBe(2);
  });

  it('come alone by their name', async () => {
    const [only, ...others] = await commandsFor(['copies', '--json']);
    expect(only?.name()).toBe('copies');
    expect(others).toEqual([]);
  });
});
