/** What lies in a checkout, for comparing two of them: bytes, modes and links, not what git makes of them. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Path to content. The copy's own git directory is left out; those of repositories inside of it are not. */
export function filesIn(folder: string, below = ''): Record<string, string> {
  const found: Record<string, string> = {};
  const here = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(below, 'latin1')]);
  for (const name of readdirSync(here, { encoding: 'buffer' }).map((each) => each.toString('latin1'))) {
    const path = below === '' ? name : `${below}/${name}`;
    if (path === '.git') continue;
    const full = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, 'latin1')]);
    const { mode } = lstatSync(full);
    if (lstatSync(full).isDirectory()) Object.assign(found, filesIn(folder, path));
    else if (lstatSync(full).isSymbolicLink()) found[path] = `link to ${readlinkSync(full)}`;
    else found[path] = `${(mode & 0o100) === 0 ? 'file' : 'program'} ${sha256(full)}`;
  }
  return found;
}

function sha256(file: Buffer): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
