/** Makes the files that a patch in the outbox stands for: by git, on the base, with nothing of the product's. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What is to be read of a receipt, whichever code wrote it. */
export interface PatchReceipt {
  readonly base: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** Git as an ordinary person runs it, without this machine's configuration. */
export async function plainGit(cwd: string, args: readonly string[], more: Record<string, string> = {}) {
  const who = {
    GIT_AUTHOR_NAME: 'p',
    GIT_AUTHOR_EMAIL: 'p@x',
    GIT_COMMITTER_NAME: 'p',
    GIT_COMMITTER_EMAIL: 'p@x',
  };
  const quiet = { HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', ...quiet, ...who, ...more };
  return (await run('git', [...args], { cwd, env })).stdout.trim();
}

export class PatchFiles {
  readonly #remote: string;
  readonly #scratch: string;

  /** `remote` has the base, `scratch` is an empty folder to unfold patches in. */
  constructor(remote: string, scratch: string) {
    this.#remote = remote;
    this.#scratch = scratch;
  }

  /** A folder with the files, or null where the patch is not what its receipt says or does not apply. */
  async unfold(patchFile: string, receipt: PatchReceipt): Promise<string | null> {
    const content = await readFile(patchFile).catch(() => null);
    if (content === null || content.length !== receipt.bytes) return null;
    if (createHash('sha256').update(content).digest('hex') !== receipt.sha256) return null;
    const base = await this.#baseFolder(receipt.base);
    const folder = await mkdtemp(join(this.#scratch, 'patch-'));
    await cp(base, folder, { recursive: true });
    if (content.length === 0) return folder;
    // No repository is looked for above it: a patch of ours needs none.
    const nowhere = { GIT_CEILING_DIRECTORIES: this.#scratch };
    try {
      await plainGit(folder, ['apply', '--whitespace=nowarn', patchFile], nowhere);
      return folder;
    } catch {
      return null;
    }
  }

  async #baseFolder(base: string): Promise<string> {
    const folder = join(this.#scratch, `base-${base}`);
    if (existsSync(folder)) return folder;
    const index = { GIT_INDEX_FILE: join(this.#scratch, `index-${base}`) };
    await plainGit(this.#remote, ['read-tree', base], index);
    await plainGit(this.#remote, ['checkout-index', '--all', `--prefix=${folder}/`], index);
    return folder;
  }
}
