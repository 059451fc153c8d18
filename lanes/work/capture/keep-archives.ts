/** What git cannot carry in a tree, kept as archives: repositories inside the copy, and the copy's own git directory. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Archive, CaptureKind, Missing } from '../../records/copies.ts';
import type { Copy } from '../copy.ts';
import { archivePath } from '../outbox.ts';
import type { Workplace } from '../workplace.ts';
import { tarOf } from './archive.ts';
import { readablePath } from './paths.ts';
import { type EmbeddedRepository, nameOf } from './repositories.ts';

const MAX_ARCHIVE_BYTES = 512 * 1024 * 1024;
const MAX_ARCHIVES = 200;
/** What only the agent's git knows: commits, stashes, what was reset, other branches, what was added and removed again. */
const GIT_STATE = ['HEAD', 'index', 'logs', 'modules', 'objects', 'packed-refs', 'refs', 'worktrees'];

export interface KeptArchives {
  readonly archives: Archive[];
  /** What is in no archive. */
  readonly missing: Missing[];
}

/** A repository that is in no archive is named among `missing` already, and has no counterpart there. */
export async function keepRepositories(
  place: Workplace,
  copy: Copy,
  kind: CaptureKind,
  repositories: readonly EmbeddedRepository[],
): Promise<KeptArchives> {
  const kept: KeptArchives = { archives: [], missing: [] };
  for (const repository of repositories.slice(0, MAX_ARCHIVES)) {
    const name = Buffer.from(repository.path, 'latin1');
    const path = readablePath(nameOf(repository));
    const archive = await keep(place, copy, kind, [name], { path, kind: 'embedded_repository' });
    if (archive === null) continue;
    kept.archives.push(archive.kept);
    if (archive.trouble) kept.missing.push({ path, why: 'not_readable' });
  }
  return kept;
}

/** The copy's own git directory, if the agent's git wrote into it. It borrows objects, so that its own are the new ones. */
export async function keepGitState(place: Workplace, copy: Copy, kind: CaptureKind): Promise<KeptArchives> {
  const names = await gitStateNames(copy.paths.work);
  if (names.length === 0) return { archives: [], missing: [] };
  const archive = await keep(place, copy, kind, names, { path: '.git', kind: 'git_state' });
  if (archive === null) return { archives: [], missing: [{ path: '.git', why: 'too_big' }] };
  return {
    archives: [archive.kept],
    missing: archive.trouble ? [{ path: '.git', why: 'not_readable' }] : [],
  };
}

async function gitStateNames(work: string): Promise<string[]> {
  const git = join(work, '.git');
  const there = await lstat(git).catch(() => null);
  if (there === null) return [];
  // A link or a file in its place is kept as what it is: where it leads is not ours to follow.
  if (!there.isDirectory()) return ['.git'];
  const [loose, packed] = await Promise.all([
    entries(join(git, 'objects')),
    entries(join(git, 'objects/pack')),
  ]);
  if (packed.length === 0 && !loose.some((name) => name !== 'info' && name !== 'pack')) return [];
  const all = await entries(git);
  return GIT_STATE.filter((name) => all.includes(name)).map((name) => `.git/${name}`);
}

async function entries(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}

/** Null where it would be over the bound. */
async function keep(
  place: Workplace,
  copy: Copy,
  kind: CaptureKind,
  names: (string | Buffer)[],
  about: Pick<Archive, 'path' | 'kind'>,
): Promise<{ kept: Archive; trouble: boolean } | null> {
  const temporary = join(place.outboxDir, 'tmp', `${copy.id}.${kind}.tar`);
  const outcome = await tarOf(copy.paths.work, names, temporary, MAX_ARCHIVE_BYTES);
  if (outcome.kind === 'too_big') return null;
  const { sha256, bytes, trouble } = outcome;
  await place.files.renameDurably(temporary, archivePath(place, copy.id, kind, sha256));
  return { kept: { ...about, sha256, bytes }, trouble: trouble !== null };
}
