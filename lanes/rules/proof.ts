/**
 * The pure parts of proof: which check proves which criterion, whether a patch touches what a check is protected by,
 * and what an address on GitHub stands for. The shell in `lanes/work/proof/` looks; these decide what it may conclude.
 */
import picomatch from 'picomatch';
import type { Check } from '../records/config.ts';
import type { Criterion } from '../records/criteria.ts';
import type { LookUpQuery } from '../records/host.ts';

/** Criterion id -> names of the checks that prove it, in the order of the lane's file. */
export type ProofMap = ReadonlyMap<string, readonly string[]>;

/**
 * Maps checks to criteria by the operator's `proves` and the repository's. A name that the lane has no check of is
 * left out: a repository's file can map the operator's checks, it cannot make one.
 */
export function mapChecks(
  criteria: readonly Criterion[],
  checks: Readonly<Record<string, Check>>,
  repositoryProves: Readonly<Record<string, readonly string[]>>,
): ProofMap {
  const labels = new Set(
    criteria.flatMap((criterion) => (criterion.label ? [normalise(criterion.label)] : [])),
  );
  const map = new Map<string, string[]>(criteria.map((criterion) => [criterion.id, []]));
  for (const [name, check] of Object.entries(checks)) {
    const added = Object.hasOwn(repositoryProves, name) ? (repositoryProves[name] ?? []) : [];
    const patterns = [...check.proves, ...added];
    for (const criterion of criteria) {
      if (patterns.some((pattern) => names(pattern, criterion, labels))) map.get(criterion.id)?.push(name);
    }
  }
  return map;
}

/**
 * Whether one `proves` entry names this criterion. An entry that is some criterion's label means that label alone:
 * `AC-1` must not reach a criterion whose text speaks of AC-1.
 */
function names(pattern: string, criterion: Criterion, labels: ReadonlySet<string>): boolean {
  if (pattern === '*') return true;
  const wanted = normalise(pattern);
  // An entry of nothing but marks would be a part of every text.
  if (wanted === '') return false;
  if (labels.has(wanted)) return criterion.label !== undefined && normalise(criterion.label) === wanted;
  return hasWords(normalise(criterion.text), wanted);
}

/** Text as two people who mean the same would both write it: case, spacing and inline marks do not count. */
function normalise(text: string): string {
  return text.normalize('NFKC').replace(/[`*]/g, '').replace(/\s+/g, ' ').trim().toLowerCase();
}

/** Whether `part` occurs in `text` and is not cut out of a longer word or number. */
function hasWords(text: string, part: string): boolean {
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) {
    const end = at + part.length;
    // Two code units hold the neighbouring character; looking at more would be quadratic in a hostile text.
    const cutsBefore = joined(text.slice(Math.max(0, at - 2), at), part.slice(0, 2));
    const cutsAfter = joined(part.slice(-2), text.slice(end, end + 2));
    if (!cutsBefore && !cutsAfter) return true;
  }
  return false;
}

/** Cased letters and digits make words with borders; scripts that are written without spaces have none. */
function joined(before: string, after: string): boolean {
  return /[\p{Ll}\p{Lu}\p{N}]$/u.test(before) && /^[\p{Ll}\p{Lu}\p{N}]/u.test(after);
}

/**
 * The first changed path that one of the globs protects, or null. A glob is relative to the repository's root and
 * protects a folder's contents with the folder. The paths come from a diff without rename detection, so that a rename
 * counts on both of its sides.
 */
export function touchedProtected(changed: readonly string[], protect: readonly string[]): string | null {
  const roots = protect.map((glob) => glob.replace(/^(?:\.?\/)+/, '').replace(/\/+$/, ''));
  const matchers = roots
    .flatMap((glob) => [glob, `${glob}/**`])
    .map((glob) => picomatch(glob, { dot: true }));
  // A glob's star stops at a line end, which a path may hold.
  const onOneLine = (path: string) => path.replace(/[\r\n\u2028\u2029]/g, ' ');
  return changed.find((path) => matchers.some((matches) => matches(onOneLine(path)))) ?? null;
}

export type EvidenceAddress = { known: true; query: LookUpQuery } | { known: false; why: string };

const longestNumber = 15;

/**
 * What an address stands for in the repository at `repositoryUrl`: an issue, a pull request, a commit or a run.
 * Nothing is fetched. Any other address, any other repository, is not known.
 */
export function readEvidenceUrl(text: string, repositoryUrl: string): EvidenceAddress {
  const address = parseHttp(text);
  const repository = parseHttp(repositoryUrl);
  if (address === null) return { known: false, why: 'not an http address' };
  if (repository === null) return { known: false, why: "this repository's server has no web address" };
  if (address.username !== '' || address.password !== '') {
    return { known: false, why: 'an address that holds credentials' };
  }
  const home = `${repository.pathname.replace(/\/+$/, '')}/`.toLowerCase();
  const elsewhere = address.origin !== repository.origin || !address.pathname.toLowerCase().startsWith(home);
  if (elsewhere) return { known: false, why: 'an address outside this repository; it is not fetched' };
  const query = readRoute(address.pathname.slice(home.length).split('/'));
  if (query === null)
    return { known: false, why: 'not the address of an issue, pull request, commit or run' };
  return { known: true, query };
}

function parseHttp(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : null;
}

function readRoute(parts: readonly string[]): LookUpQuery | null {
  const [first = '', second = '', third = ''] = parts;
  if (first === 'issues' && parts.length === 2)
    return numbered(second, (number) => ({ kind: 'issue', number }));
  if (first === 'pull') return numbered(second, (number) => ({ kind: 'pull', number }));
  if (first === 'actions' && second === 'runs') return numbered(third, (id) => ({ kind: 'run', id }));
  if (first === 'commit' && parts.length === 2 && /^[0-9a-f]{7,64}$/i.test(second)) {
    return { kind: 'commit', sha: second.toLowerCase() };
  }
  return null;
}

function numbered(text: string, make: (number: number) => LookUpQuery): LookUpQuery | null {
  return /^[1-9]\d*$/.test(text) && text.length <= longestNumber ? make(Number(text)) : null;
}
