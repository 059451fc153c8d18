/**
 * Ids across edits. An id is minted once and never reused; an edited body's criteria find theirs again by a hidden marker, by
 * their words, by the title of the issue they became, by the author's label, by likeness, and never by position.
 */
import type { Criterion } from '../../records/criteria.ts';
import { withoutLabel } from './marks.ts';
import { type Shape, shapeOf, sharesWord, similarity } from './similarity.ts';
import { normalise } from './text.ts';
import type { ReadCriterion } from './types.ts';

/** How alike two wordings must be to be one criterion reworded. */
const SAME_FROM = 0.6;
const MAX_MINTS = 100;

export type CriteriaMatch = {
  /** The criteria of the body in its order, then those that are no longer in it (`removed`). */
  criteria: Criterion[];
  /** Ids whose line vanished in this edit. They still need a disposition. */
  removed: string[];
  /** Ids whose wording changed in this edit: an earlier disposition no longer holds. */
  stale: string[];
};

type Old = { known: Criterion; text: string; bare: string; shape: Shape; taken: boolean };
type New = { read: ReadCriterion; text: string; bare: string; shape: Shape; old: Old | null };

/**
 * Match a reading against what is known.
 * @param previous all criteria known so far, the removed ones included: they can come back.
 * @param mint gives a new id; asked again if it repeats a known one.
 * @param titles titles of issues by number, for lines that GitHub turned into `#n`.
 * @throws if `mint` keeps giving known ids.
 */
export function matchCriteria(
  previous: readonly Criterion[],
  reading: readonly ReadCriterion[],
  mint: () => string,
  titles: ReadonlyMap<number, string> = new Map(),
): CriteriaMatch {
  const olds = previous.map((known): Old => ({ known, ...wording(known.text), taken: false }));
  const news = reading.map((read): New => ({ read, ...wording(read.text), old: null }));
  matchMarkers(olds, news);
  matchWords(olds, news, (side) => side.text);
  matchWords(olds, news, (side) => side.bare);
  matchTitles(olds, news, titles);
  matchLabels(olds, news);
  matchLikeness(olds, news);
  return settle(olds, news, mint);
}

function wording(source: string): { text: string; bare: string; shape: Shape } {
  const text = normalise(source);
  const bare = normalise(withoutLabel(source));
  return { text, bare, shape: shapeOf(bare) };
}

function take(old: Old, fresh: New): void {
  old.taken = true;
  fresh.old = old;
}

const openOnes = (olds: readonly Old[]) => olds.filter((old) => !old.taken);
const openNews = (news: readonly New[]) => news.filter((fresh) => fresh.old === null);

/** A marker counts only if it is known for this issue; a copied one stays with the wording that it had. */
function matchMarkers(olds: readonly Old[], news: readonly New[]): void {
  for (const old of openOnes(olds)) {
    const marked = openNews(news).filter(
      ({ read }) => read.marker !== undefined && belongsTo(read.marker, old.known),
    );
    const best = marked.find((fresh) => fresh.text === old.text) ?? mostAlike(old, marked);
    if (best) take(old, best);
  }
}

function belongsTo(marker: string, known: Criterion): boolean {
  return marker === known.marker || marker.replace(/^[\w-]+\s*:\s*/, '') === known.id;
}

function mostAlike(old: Old, candidates: readonly New[]): New | null {
  let best: New | null = null;
  let bestScore = -1;
  for (const fresh of candidates) {
    const score = similarity(old.shape, fresh.shape);
    if (score > bestScore) {
      best = fresh;
      bestScore = score;
    }
  }
  return best;
}

/** Equal words, duplicates by occurrence; a criterion that is still in the body goes before a removed one. */
function matchWords(olds: readonly Old[], news: readonly New[], of: (side: Old | New) => string): void {
  const waiting = new Map<string, Old[]>();
  const present = openOnes(olds).filter((old) => !old.known.removed);
  for (const old of [...present, ...openOnes(olds).filter((old) => old.known.removed)]) {
    waiting.set(of(old), [...(waiting.get(of(old)) ?? []), old]);
  }
  for (const fresh of openNews(news)) {
    const old = fresh.text ? waiting.get(of(fresh))?.shift() : undefined;
    if (old) take(old, fresh);
  }
}

/** GitHub's "convert to issue" replaces a line by `#n`; the issue has the old line as its title. */
function matchTitles(olds: readonly Old[], news: readonly New[], titles: ReadonlyMap<number, string>): void {
  for (const fresh of openNews(news)) {
    const number = /^#(\d+)$/.exec(fresh.read.text)?.[1];
    const title = number === undefined ? undefined : titles.get(Number(number));
    const wanted = title === undefined ? null : wording(title);
    const old =
      wanted &&
      openOnes(olds).find((candidate) => candidate.text === wanted.text || candidate.bare === wanted.bare);
    if (old) take(old, fresh);
  }
}

/** The author's label, if it is unique on both sides and the words do not speak for another criterion, or against any. */
function matchLabels(olds: readonly Old[], news: readonly New[]): void {
  for (const fresh of openNews(news)) {
    const label = labelKey(fresh.read.label);
    if (!label || news.filter(({ read }) => labelKey(read.label) === label).length > 1) continue;
    const [old, twin] = olds.filter(({ known }) => labelKey(known.label) === label);
    if (!old || twin || old.taken || !sharesWord(old.shape, fresh.shape)) continue;
    const own = similarity(old.shape, fresh.shape);
    const better = (score: number) => score >= SAME_FROM && score > own;
    const contradicted =
      openOnes(olds).some((other) => other !== old && better(similarity(other.shape, fresh.shape))) ||
      openNews(news).some((other) => other !== fresh && better(similarity(old.shape, other.shape)));
    if (!contradicted) take(old, fresh);
  }
}

function labelKey(label: string | undefined): string {
  return label === undefined ? '' : label.toLowerCase().replace(/[\s._#-]/g, '');
}

/** Mutual best likeness: each is the other's best. The first in order wins a tie; a leftover half of a split is new. */
function matchLikeness(olds: readonly Old[], news: readonly New[]): void {
  const [left, right] = [openOnes(olds), openNews(news)];
  const scores = left.map((old) => right.map((fresh) => similarity(old.shape, fresh.shape)));
  const score = (row: number, column: number) => scores[row]?.[column] ?? 0;
  left.forEach((old, row) => {
    const column = bestIndex(right.length, (index) => score(row, index));
    const fresh = right[column];
    if (!fresh || score(row, column) < SAME_FROM) return;
    if (bestIndex(left.length, (index) => score(index, column)) === row) take(old, fresh);
  });
}

function bestIndex(count: number, score: (index: number) => number): number {
  let best = -1;
  for (let index = 0; index < count; index += 1) if (best < 0 || score(index) > score(best)) best = index;
  return best;
}

function settle(olds: readonly Old[], news: readonly New[], mint: () => string): CriteriaMatch {
  const ids = new Set(olds.map(({ known }) => known.id));
  const stale: string[] = [];
  const present = news.map((fresh): Criterion => {
    const known = fresh.old?.known;
    if (!known) return knownOf(fresh.read, newId(ids, mint), 1, undefined);
    const reworded = fresh.old?.bare !== fresh.bare;
    if (reworded) stale.push(known.id);
    return knownOf(fresh.read, known.id, known.revision + (reworded ? 1 : 0), known.marker);
  });
  const gone = openOnes(olds);
  const removed = gone.filter(({ known }) => !known.removed).map(({ known }) => known.id);
  return {
    criteria: [...present, ...gone.map(({ known }) => ({ ...known, removed: true }))],
    removed,
    stale,
  };
}

function newId(ids: Set<string>, mint: () => string): string {
  for (let attempt = 0; attempt < MAX_MINTS; attempt += 1) {
    const id = mint();
    if (ids.has(id)) continue;
    ids.add(id);
    return id;
  }
  throw new Error('No new criterion id: the minting function only gives ids that are taken.');
}

function knownOf(read: ReadCriterion, id: string, revision: number, marker: string | undefined): Criterion {
  const { text, depth, checked, checkbox, label, group, detail } = read;
  const kept = read.marker ?? marker;
  return {
    id,
    revision,
    text,
    depth,
    checked,
    checkbox,
    removed: false,
    ...(label !== undefined && { label }),
    ...(group !== undefined && { group }),
    ...(detail !== undefined && { detail }),
    ...(kept !== undefined && { marker: kept }),
  };
}
