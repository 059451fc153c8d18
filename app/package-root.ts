/** Where the package lies: templates and `app.yml` are beside the sources, not in the build. */
import { readFileSync } from 'node:fs';

/** A file of the package by its path from the root. From source the root is one folder up, from `dist/` two. */
export function packageFile(path: string): URL {
  return new URL(`${import.meta.url.endsWith('.ts') ? '..' : '../..'}/${path}`, import.meta.url);
}

/** The version of this package. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: unknown };
  return String(version);
}
