/** Reading an ordinary body of 60 KB against the bare parser: what finding the criteria costs on top of parsing. */
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { checkBounds, readCriteria } from '../../lanes/rules/criteria/index.ts';
import type { BenchRow } from './row.ts';
import { median } from './side-by-side.ts';

const BODY_CHARS = 60_000;
const WARM_UP = 5;
const ROUNDS = 25;

const CHAPTER = `## Background {n}

Members lose their reading position when the tablet locks, which [an earlier report](https://example.org/reports/{n})
describes; see also \`reader.resume()\` and the notes of **the second meeting**. Nobody has measured how often it happens.
The shelf keeps one position per book, and a guest account keeps none, as the *handbook* says.

| Device | Locks after | Seen |
|--------|-------------|------|
| Tablet {n} | 2 min | yes |
| Phone {n} | 30 s | no |

1. Open a book and read to page {n}.
2. Lock the tablet and wait.
   - on battery
   - on mains
3. Unlock it again.

\`\`\`ts
const position = await shelf.position(book, { device: {n} });
if (position === null) throw new Error('lost');
\`\`\`

> It worked before the spring release, said the shop in street {n}.

`;

const CRITERIA = `## Acceptance criteria

{items}
## Notes

- the handbook is out of date
`;

/** An issue body as people write them: mostly prose, with tables, code, lists and one section of criteria. */
export function ordinaryBody(chars: number): string {
  const items = Array.from(
    { length: 40 },
    (_, n) => `- [${n % 5 ? ' ' : 'x'}] AC-${n + 1}: book ${n} opens at its \`page\` within ${n + 1} s\n`,
  );
  const criteria = CRITERIA.replace('{items}', items.join(''));
  let body = '';
  for (let n = 1; body.length + criteria.length < chars; n += 1) body += CHAPTER.replaceAll('{n}', String(n));
  return (body + criteria).slice(-chars);
}

function time(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/** Milliseconds for one body; ours and the peer take turns, so that the machine's mood meets both. */
export async function benchCriteria(): Promise<BenchRow[]> {
  const body = ordinaryBody(BODY_CHARS);
  const processor = unified().use(remarkParse).use(remarkGfm).freeze();
  const ours: number[] = [];
  const peer: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const own = time(() => checkBounds(body).kind === 'ok' && readCriteria(body));
    const bare = time(() => processor.parse(body));
    if (round < 0) continue;
    ours.push(own);
    peer.push(bare);
  }
  const [a, b] = [median(ours), median(peer)];
  return [{ name: 'criteria_parse', ours: a, peer: b, unit: 'ms', ratio: a / b, bound: '<= 1.3' }];
}
