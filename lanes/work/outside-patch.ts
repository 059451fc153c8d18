/**
 * A patch that was made outside of any copy of ours: what it is made on, and what it gives, are found out by applying it
 * to the base. Nothing of it is written into the mirror.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isLaneError, LaneError } from '../errors.ts';
import type { PatchRef } from '../records/runs.ts';
import { git, gitText } from './git.ts';
import { type MirrorSource, mirrorPath, syncMirror } from './mirror.ts';
import type { Workplace } from './workplace.ts';

export type OutsidePatch = Pick<PatchRef, 'base' | 'tree' | 'sha256' | 'bytes' | 'files'>;

/**
 * Applies a patch to the commit `base`, or to the default branch's head where none is named.
 * @throws LaneError `invalid_result` where the commit is not there, or the patch does not apply; `git_failed`, `disk`.
 */
export async function measurePatch(
  place: Workplace,
  source: MirrorSource,
  patch: { readonly bytes: Uint8Array; readonly base: string | undefined },
  signal: AbortSignal,
): Promise<OutsidePatch> {
  const synced = await syncMirror(place, source, signal);
  if (synced.kind === 'empty_repository') throw new LaneError('empty_repository');
  const base = patch.base ?? synced.base;
  const mirror = mirrorPath(place, source.repositoryId);
  const room = await mkdtemp(join(place.outboxDir, 'tmp', 'measure-'));
  try {
    const file = join(room, 'patch');
    await writeFile(file, patch.bytes, { mode: 0o600 });
    const env = {
      GIT_DIR: mirror,
      GIT_INDEX_FILE: join(room, 'index'),
      GIT_OBJECT_DIRECTORY: room,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(mirror, 'objects'),
    };
    const run = (...args: string[]) => gitText({ args, cwd: room, env, signal });
    await run('read-tree', `${base}^{tree}`).catch(refused(`there is no commit ${base} in the repository`));
    const apply = ['apply', '--cached', '--binary', '--whitespace=nowarn', file];
    await git({ args: apply, cwd: room, env, signal }).catch(refused(`it does not apply to commit ${base}`));
    const tree = await run('write-tree');
    const changed = await run('diff-tree', '-r', '--name-only', '--no-renames', `${base}^{tree}`, tree);
    const files = changed === '' ? 0 : changed.split('\n').length;
    const sha256 = createHash('sha256').update(patch.bytes).digest('hex');
    return { base, tree, sha256, bytes: patch.bytes.length, files };
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}

/** What git will not do with a patch is the patch's fault, not the machine's. */
function refused(why: string): (error: unknown) => never {
  return (error) => {
    if (!isLaneError(error, 'git_failed')) throw error;
    throw new LaneError('invalid_result', `the patch cannot be taken: ${why}`, { cause: error });
  };
}
