/** From a task to the machine block: what is kept, shortened by rule until it fits. */
import {
  type Disposition,
  LaneError,
  type Note,
  type NoteDisposition,
  type WeighedEvidence,
} from '../../../lanes/index.ts';
import { encodeBlock } from './block.ts';
import { cut } from './cut.ts';
import type { NoteInput } from './input.ts';
import type { NoteKey } from './key.ts';

/** Leaves more than a third of a note to people, whatever a task holds. */
export const maxBlockChars = 36_000;
const maxEntries = 500;

interface Limits {
  readonly text: number;
  readonly reason: number;
  readonly evidence: number;
  readonly ref: number;
  readonly proposals: boolean;
}

/** By `cut`: what goes first is what people can still read in the issue or in the note itself. */
const limitsByCut: readonly Limits[] = [
  { text: 200, reason: 200, evidence: 10, ref: 200, proposals: true },
  { text: 80, reason: 0, evidence: 5, ref: 80, proposals: true },
  { text: 0, reason: 0, evidence: 3, ref: 40, proposals: true },
  { text: 0, reason: 0, evidence: 0, ref: 0, proposals: false },
];

/**
 * The signed block of a note, at most `maxBlockChars` long. The input must already be redacted.
 * @throws LaneError `invalid_note` if not even the shortest form fits, which the records' bounds rule out.
 */
export function machineBlock(input: NoteInput, key: NoteKey): string {
  for (const [level, limits] of limitsByCut.entries()) {
    const line = encodeBlock(machineNote(input, level, limits), key, maxBlockChars);
    if (line !== undefined) return line;
  }
  throw new LaneError('invalid_note', `task ${input.task.id} does not fit into a note`);
}

function machineNote(input: NoteInput, level: number, limits: Limits): Note {
  const { task } = input;
  return {
    v: 1,
    app: { id: input.app.id, slug: cut(input.app.slug, 100) },
    issue: task.issue,
    namespace: task.namespace,
    lane: cut(task.lane, 64),
    task: task.id,
    run: task.run,
    fence: task.fence,
    sequence: input.sequence,
    state: input.state,
    ...(input.state === 'parked' && { reason: input.reason }),
    ...(input.state === 'complete' && { stateReason: input.stateReason }),
    proof: task.proof,
    approved: { by: task.approvedBy, bodyHash: task.approvedBodyHash },
    criteria: task.criteria.slice(0, maxEntries).map((criterion) => ({
      id: criterion.id,
      revision: criterion.revision,
      ...(limits.text > 0 && { text: cut(criterion.text, limits.text) }),
      ...(limits.text > 0 && criterion.label !== undefined && { label: cut(criterion.label, 40) }),
      ...(criterion.removed && { removed: true as const }),
    })),
    dispositions: Object.values(task.dispositions)
      .slice(0, maxEntries)
      .map((disposition) => shortDisposition(disposition, limits)),
    proposals: limits.proposals
      ? task.proposals.slice(0, maxEntries).map((proposal) => shortDisposition(proposal, limits))
      : [],
    ...(task.patch !== undefined && { patch: task.patch }),
    ...(input.actor !== undefined && { actor: input.actor }),
    atMs: input.atMs,
    cut: level,
  };
}

function shortDisposition(disposition: Disposition, limits: Limits): NoteDisposition {
  const { criterion, revision, kind, by, reason, target, evidence, atMs } = disposition;
  const weighed = [...evidence].sort((a, b) => rank(a) - rank(b)).slice(0, limits.evidence);
  return {
    criterion: cut(criterion, 64),
    revision,
    kind,
    by,
    ...(reason !== undefined && limits.reason > 0 && { reason: cut(reason, limits.reason) }),
    ...(target !== undefined && { target: cut(target, 64) }),
    ...(weighed.length > 0 && {
      evidence: weighed.map((one) => ({
        kind: one.evidence.kind,
        standing: one.standing,
        ref: cut(evidenceRef(one), limits.ref),
      })),
    }),
    atMs,
  };
}

/** Verified evidence is what a later reader needs most. */
function rank(weighed: WeighedEvidence): number {
  return weighed.standing === 'verified' ? 0 : 1;
}

/** The one thing that names a piece of evidence: a check's name, a path, a sha, an address, or the words said. */
export function evidenceRef({ evidence }: WeighedEvidence): string {
  if (evidence.kind === 'check') return evidence.name;
  if (evidence.kind === 'file') return evidence.path;
  if (evidence.kind === 'commit') return evidence.sha;
  if (evidence.kind === 'url') return evidence.url;
  return evidence.text;
}
