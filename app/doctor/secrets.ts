/** A look at the files that hold secrets: for our user's eyes only. Their contents are not read here. */
import { stat } from 'node:fs/promises';
import { demandPrivate, isLaneError } from '../../lanes/index.ts';
import { type Finding, fail, ok } from './finding.ts';

const check = 'secrets';

export interface SecretFiles {
  /** A variable names it: it must be there. */
  readonly named: readonly string[];
  /** Made here when they are needed. */
  readonly own: readonly string[];
}

/** One finding for all files that are as they must be, and one for each that is not. */
export async function lookAtSecrets({ named, own }: SecretFiles): Promise<Finding[]> {
  const findings: Finding[] = [];
  let good = 0;
  for (const file of [...named, ...own]) {
    const about = await stat(file).catch(() => null);
    if (about === null) {
      if (named.includes(file))
        findings.push(fail(check, `${file} is not there`, 'Correct the variable that names it.'));
      continue;
    }
    const problem = problemOf(file, about.mode);
    if (problem === null) good++;
    else findings.push(fail(check, problem, `Run: chmod 600 ${file}`));
  }
  if (findings.length > 0) return findings;
  return [ok(check, good === 0 ? 'no file with secrets is there' : `${good} files are for this user alone`)];
}

function problemOf(file: string, mode: number): string | null {
  try {
    demandPrivate(file, mode);
    return null;
  } catch (error) {
    if (!isLaneError(error)) throw error;
    return `${file} can be read by others`;
  }
}
