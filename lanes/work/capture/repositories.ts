/** Repositories inside the copy: git adds nothing that is called `.git`, and no more than a name of a whole one. */

export interface EmbeddedRepository {
  /** What git did not take: the folder, or only the `.git` in it, where git added the files beside that. */
  readonly path: string;
  /** Whether `path` is the folder that the `.git` lies in. */
  readonly whole: boolean;
}

/** `indexed` is what git did add. The outermost only: what lies below goes with it. */
export function embeddedIn(gitNames: readonly string[], indexed: readonly string[]): EmbeddedRepository[] {
  const found: EmbeddedRepository[] = [];
  for (const name of [...gitNames].sort()) {
    if (found.some(({ path }) => isWithin(name, path))) continue;
    const folder = name.slice(0, Math.max(0, name.lastIndexOf('/')));
    const whole = folder !== '' && name.endsWith('/.git') && !indexed.some((path) => isWithin(path, folder));
    found.push({ path: whole ? folder : name, whole });
  }
  return found;
}

/** True for the folder itself and for everything below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** How a receipt names it: a folder with a slash at its end. */
export function nameOf({ path, whole }: EmbeddedRepository): string {
  return whole ? `${path}/` : path;
}
