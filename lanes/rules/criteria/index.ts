/** Reading acceptance criteria from issue bodies, and keeping their ids through edits. Pure. */
export {
  type Bounds,
  checkBounds,
  MAX_BODY_CHARS,
  MAX_CRITERIA,
  measureNesting,
  type Nesting,
} from './bounds.ts';
export { type CriteriaMatch, matchCriteria } from './match.ts';
export { readCriteria } from './read.ts';
export { type Readiness, readiness } from './readiness.ts';
export type { CriteriaReading, ReadCriterion, SecondarySection } from './types.ts';
