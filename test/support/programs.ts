/**
 * Programs that tests start and kill as processes of their own. They are built once, before the tests, with the product:
 * from source each start would cost seconds.
 */
import { join } from 'node:path';

/** From the root of the repository, without their ending. */
export const programs = [
  'test/app/cli/note-program',
  ...['archiver', 'embedded-parent', 'sleeper', 'worker'].map((name) => `test/fixtures/engine/${name}`),
  ...[
    'forced',
    'full-disk',
    'many-copies',
    'supervisor',
    'with-stray',
    'orphan-ender',
    'orphan-supervisor',
  ].map((name) => `test/lanes/work/agents/${name}`),
] as const;

/** Where the tests' set-up has built one of them, by the end of its name. */
export function builtProgram(name: string): string {
  const folder = process.env.LANEKEEPER_PROGRAMS;
  const found = programs.find((path) => path.endsWith(`/${name}`));
  if (folder === undefined || found === undefined) throw new Error(`${name} was not built: see test/support`);
  return join(folder, `${found}.js`);
}
