/** Evidence as a person names it behind `/lane met <id>`. */
import { evidenceSchema } from '../../records/dispositions.ts';
import type { NamedEvidence } from './types.ts';

const maxStatementChars = 4_000;
const maxPieces = 20;

/**
 * Leading words that name something (`check:<name>`, `file:<path>`, a commit's sha, an http address), then free words as
 * a statement. Undefined if the words are longer than a record takes.
 */
export function readEvidence(words: string): NamedEvidence[] | undefined {
  const evidence: NamedEvidence[] = [];
  let rest = words;
  while (rest !== '' && evidence.length < maxPieces) {
    const word = /^\S+/.exec(rest)?.[0] ?? '';
    const named = nameOf(word);
    if (named === undefined) break;
    evidence.push(named);
    rest = rest.slice(word.length).trim();
  }
  if (rest.length > maxStatementChars) return undefined;
  if (rest !== '') evidence.push({ kind: 'statement', text: rest });
  return evidence;
}

/** What one word names; undefined for an ordinary word, and for a name that is longer than a record takes. */
function nameOf(marked: string): NamedEvidence | undefined {
  const word = marked.replace(/[`<>]/g, '').replace(/[,;]$/, '');
  const [, kind, name] = /^(check|file):(.+)$/i.exec(word) ?? [];
  const candidate =
    kind?.toLowerCase() === 'check'
      ? { kind: 'check', name }
      : kind?.toLowerCase() === 'file'
        ? { kind: 'file', path: name }
        : /^https?:\/\//i.test(word)
          ? { kind: 'url', url: word }
          : { kind: 'commit', sha: word };
  const parsed = evidenceSchema.safeParse(candidate);
  // A short word of the letters a to f could be meant as a word ("decade"); a sha nearly always has a digit.
  if (!parsed.success || (parsed.data.kind === 'commit' && !/\d/.test(word))) return undefined;
  return parsed.data;
}
