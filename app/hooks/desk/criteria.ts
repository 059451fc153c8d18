/** Criteria of an issue, read anew and matched with what was known, so that ids survive edits. */
import {
  type BodyReading,
  type Criterion,
  type Dispositions,
  type IssueRecord,
  makeMinter,
  matchCriteria,
  type Task,
} from '../../../lanes/index.ts';
import type { BodyOutcome, Desk } from './port.ts';

/** A reading as the rules of intake look at it. */
export function asBodyReading(outcome: BodyOutcome): BodyReading {
  if (outcome.kind === 'unreadable') return outcome;
  return {
    kind: 'read',
    criteria: outcome.reading.criteria.length,
    placeholders: outcome.reading.placeholders ?? [],
    fallbackTasklist: outcome.reading.fallbackTasklist ?? [],
  };
}

/** The most criteria that are kept of an issue: beyond, a reading is refused as too many anyway. */
const maxMatched = 200;

/**
 * The record with the criteria of a reading matched in. Pure but for the hash, so that it can be asked again inside a
 * compare-and-set. A body that could not be read, or holds too many, changes nothing.
 */
export function withReading(
  desk: Pick<Desk, 'hash'>,
  record: IssueRecord,
  outcome: BodyOutcome,
): IssueRecord {
  if (outcome.kind === 'unreadable' || outcome.reading.criteria.length > maxMatched) return record;
  const seed = `${record.issue.repositoryId}#${record.issue.number}`;
  const minter = makeMinter(seed, record.minted, record.criteria, desk.hash);
  const { criteria } = matchCriteria(record.criteria, outcome.reading.criteria, minter.mint);
  return { ...record, criteria: [...criteria], minted: minter.minted() };
}

/** The criteria that a new task answers for: what stands in the body that was approved. */
export function criteriaForNewTask(record: IssueRecord): Criterion[] {
  return record.criteria.filter((criterion) => !criterion.removed);
}

/**
 * The criteria that a live task answers for: what stands in the body, and what was removed while it was live. What was
 * there at its admission is known from the pointer, whatever the task's own record says by now.
 */
export function criteriaForTask(record: IssueRecord, task: Task): Criterion[] {
  const known = new Set(
    [...(record.pointer?.criteria ?? []), ...task.criteria].map((criterion) => criterion.id),
  );
  return record.criteria.filter((criterion) => !criterion.removed || known.has(criterion.id));
}

/** People's dispositions that still fit these criteria. */
export function fittingDispositions(record: IssueRecord, criteria: readonly Criterion[]): Dispositions {
  const fitting: Dispositions = {};
  for (const criterion of criteria) {
    const found = Object.hasOwn(record.dispositions, criterion.id)
      ? record.dispositions[criterion.id]
      : undefined;
    if (found && found.revision === criterion.revision) fitting[criterion.id] = found;
  }
  return fitting;
}

/**
 * The dispositions of a worker's record, without those that speak for people who did not say so: what people decided is
 * the App's own record, and a worker can write what it likes into its namespace.
 */
export function believable(record: IssueRecord, dispositions: Dispositions): Dispositions {
  const kept = Object.entries(dispositions).filter(([id, one]) => {
    if (one.by.kind === 'agent') return true;
    const said = Object.hasOwn(record.dispositions, id) ? record.dispositions[id] : undefined;
    if (said === undefined || said.by.kind === 'agent') return false;
    return said.kind === one.kind && said.revision === one.revision && said.by.person.id === one.by.person.id;
  });
  return Object.fromEntries(kept);
}

/** In this order whoever made the object: what was stored and read back has another order of keys. */
const compared = [
  'id',
  'revision',
  'text',
  'checked',
  'checkbox',
  'depth',
  'label',
  'group',
  'detail',
  'marker',
  'removed',
];

/** Whether two lists of criteria say the same. */
export function sameCriteria(a: readonly Criterion[], b: readonly Criterion[]): boolean {
  return JSON.stringify(a, compared) === JSON.stringify(b, compared);
}
