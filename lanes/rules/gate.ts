/**
 * The gate: the pure decision whether an issue may close. It sees criteria, the verdicts on them and the lane's proof
 * policy; it answers close, or wait with the list of what is open. Every criterion that was ever approved counts, a
 * removed one too, and nothing closes on an empty list.
 */
import type { Criterion } from '../records/criteria.ts';
import { closingKinds, type Disposition, type Dispositions } from '../records/dispositions.ts';

/** More criteria than a person can oversee are asked about, not closed. */
export const maxCriteria = 200;

export type OpenWhy =
  | 'no_disposition'
  | 'stale'
  | 'not_closing'
  | 'unverified'
  | 'removed_without_disposition';
export interface OpenCriterion {
  readonly criterion: string;
  readonly why: OpenWhy;
}

export type GateReason = 'no_criteria' | 'too_many_criteria' | 'criteria_open' | 'proof_unverified';
export type GateAnswer =
  | { readonly close: true; readonly stateReason: 'completed' | 'not_planned' }
  | { readonly close: false; readonly reason: GateReason; readonly open: readonly OpenCriterion[] };

export interface GateInput {
  readonly criteria: readonly Criterion[];
  readonly dispositions: Dispositions;
  readonly proof: 'verified' | 'asserted';
}

const closing: ReadonlySet<string> = new Set(closingKinds);

/** Asks the gate. `state_reason` is `completed` if at least one criterion is met, else `not_planned`. */
export function gate({ criteria, dispositions, proof }: GateInput): GateAnswer {
  if (criteria.length === 0) return { close: false, reason: 'no_criteria', open: [] };
  if (criteria.length > maxCriteria) return { close: false, reason: 'too_many_criteria', open: [] };
  const open: OpenCriterion[] = [];
  let met = false;
  for (const criterion of criteria) {
    const disposition = dispositionOf(dispositions, criterion.id);
    const why = whyOpen(criterion, disposition, proof);
    if (why !== undefined) open.push({ criterion: criterion.id, why });
    else if (disposition?.kind === 'met') met = true;
  }
  if (open.length === 0) return { close: true, stateReason: met ? 'completed' : 'not_planned' };
  const onlyProof = open.every((item) => item.why === 'unverified');
  return { close: false, reason: onlyProof ? 'proof_unverified' : 'criteria_open', open };
}

/** The verdict on a criterion, by own keys only: an id such as `constructor` must not find the prototype's. */
export function dispositionOf(dispositions: Dispositions, criterion: string): Disposition | undefined {
  return Object.hasOwn(dispositions, criterion) ? dispositions[criterion] : undefined;
}

function whyOpen(
  criterion: Criterion,
  disposition: Disposition | undefined,
  proof: GateInput['proof'],
): OpenWhy | undefined {
  if (disposition === undefined) return criterion.removed ? 'removed_without_disposition' : 'no_disposition';
  if (disposition.criterion !== criterion.id) return 'not_closing';
  if (disposition.revision !== criterion.revision) return 'stale';
  if (!closing.has(disposition.kind)) return 'not_closing';
  if (disposition.by.kind === 'person') return undefined;
  // An agent may set `met` only; its other closing verdicts are proposals until a person accepts them.
  if (disposition.kind !== 'met') return 'not_closing';
  return proofHolds(disposition, proof) ? undefined : 'unverified';
}

/** Under `verified`, one check, commit or address that the host verified. A file supports, and alone proves nothing. */
function proofHolds(disposition: Disposition, proof: GateInput['proof']): boolean {
  if (proof === 'asserted') return disposition.evidence.length > 0;
  return disposition.evidence.some(
    ({ standing, evidence }) => standing === 'verified' && evidence.kind === 'check',
  );
}
