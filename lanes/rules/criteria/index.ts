/** Reading acceptance criteria from issue bodies, and keeping their ids through edits. Pure. */
export {
  checkBounds,
  MAX_BODY_CHARS,
  MAX_CRITERIA,
  measureNesting,
} from './bounds.ts';
export { type CriteriaMatch, matchCriteria } from './match.ts';
export { readCriteria } from './read.ts';
export { readiness } from './readiness.ts';
export type { CriteriaReading, ReadCriterion } from './types.ts';
