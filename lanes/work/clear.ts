/** The bare removals that every end of a copy has in common. Whoever calls them holds the copy's lock. */
import { join } from 'node:path';
import { LaneError } from '../errors.ts';
import { errorCode, onDisk, saysDisk } from './files.ts';
import { runProgram } from './program.ts';
import { TOOL_PATH } from './tools.ts';
import type { Workplace } from './workplace.ts';

/** Removes the records of a copy of which nothing else is left: at once for everybody who looks, then in fact. */
export async function clearRecords(
  place: Workplace,
  copy: {
    readonly id: string;
    readonly paths: { readonly ctl: string };
  },
): Promise<void> {
  const dead = join(place.ctlDir, `.dead-${copy.id}`);
  await onDisk(`cannot remove ${copy.id}`, async () => {
    try {
      await place.files.renameDurably(copy.paths.ctl, dead);
    } catch (error) {
      // Renamed by an attempt that the disk stopped after that.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
    await removeTree(dead);
    await place.files.syncFolder(place.ctlDir);
  });
}

/** In a child: removing 20,000 files here would block everything else for seconds. A path that is not there is fine. */
export async function removeTree(path: string): Promise<void> {
  const remove = () => system('rm', ['-rf', '--one-file-system', '--', path]);
  if ((await remove()).code === 0) return;
  // Folders without write permission (module caches, say) stop rm for an ordinary user.
  await system('chmod', ['-R', 'u+rwX', '--', path]);
  const again = await remove();
  if (again.code === 0) return;
  const said = again.stderr.toString();
  throw new LaneError(saysDisk(said) ? 'disk' : 'copy_failed', `cannot remove ${path}: ${said}`);
}

function system(file: string, args: string[]) {
  return runProgram({ file, args, env: { PATH: TOOL_PATH, LC_ALL: 'C' }, cwd: '/' });
}
