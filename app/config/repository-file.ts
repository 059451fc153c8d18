/** The repository's file `.github/lanes.yml`, as it was read from the default branch. */
import { type RepositoryFile, repositoryFileSchema, sameLabel } from '../../lanes/index.ts';
import type { Problem } from './problems.ts';
import { readYaml } from './yaml.ts';

export type RepositoryFileReading = { ok: true; file: RepositoryFile } | { ok: false; problems: Problem[] };

/**
 * Reads the text of a repository's file. It never throws, and takes at most a few hundred milliseconds whatever the
 * text: the author is not trusted. At most 20 problems are told.
 */
export function readRepositoryFile(text: string): RepositoryFileReading {
  const source = readYaml(repositoryFileSchema, text);
  if (!source.ok) return source;
  const labels: string[] = [];
  const problems: Problem[] = [];
  for (const [name, { label }] of Object.entries(source.value.lanes)) {
    if (label === undefined) continue;
    if (labels.some((other) => sameLabel(other, label))) {
      problems.push(
        source.problem(['lanes', name, 'label'], `lanes.${name}.label: another lane has this label.`),
      );
    }
    labels.push(label);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, file: source.value };
}
