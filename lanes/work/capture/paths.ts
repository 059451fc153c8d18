/** Paths as git and find list them: bytes, not text. Latin 1 keeps every byte of a name that is not UTF-8. */

/** The parts of a NUL-separated list. */
export function nulList(output: Buffer): string[] {
  return output.toString('latin1').split('\0').slice(0, -1);
}

/** The inverse of `nulList`. */
export function nulInput(parts: Iterable<string>): Buffer {
  return Buffer.from([...parts].map((part) => `${part}\0`).join(''), 'latin1');
}

/** A path of `nulList` as people read it. */
export function readablePath(path: string): string {
  return Buffer.from(path, 'latin1').toString('utf8');
}

/** False for a name that is not UTF-8: a record cannot name it, so that nothing could be put back there. */
export function canBeNamed(path: string): boolean {
  return Buffer.from(readablePath(path), 'utf8').equals(Buffer.from(path, 'latin1'));
}

/** A path of `nulList` below a folder, as the file system takes it. */
export function diskPath(folder: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, 'latin1')]);
}
