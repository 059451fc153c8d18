/** What the main thread and the parsing thread say to each other. One request at a time. */
import type { CriteriaReading } from '../../../lanes/rules/criteria/index.ts';

export type BodyRequest = { body: string };
export type BodyAnswer =
  | { kind: 'ready' }
  | { kind: 'read'; reading: CriteriaReading }
  | { kind: 'failed'; why: 'too_deep' | 'crash' };
