/**
 * What a sweep does with a copy, from what is known about it. Only a held lock together with a finished capture, or the
 * proof that nothing was ever started, leads to a removal; whatever is unknown is kept.
 */
import type { CopyRecord, CopyState, ProcessIdentity } from '../records/copies.ts';

/** File systems on which flock is a lock of this kernel's alone. */
const LOCKABLE = new Set(['ext4', 'xfs', 'btrfs', 'tmpfs', 'overlay']);

export type OwnerJudgement =
  | { readonly kind: 'dead'; readonly why: string; readonly rebooted: boolean }
  | { readonly kind: 'alive' | 'unknown'; readonly why: string };

/**
 * The veto over a free lock: whether the recorded owner may live all the same.
 * @param startTime when the process that has the owner's number now was started, in clock ticks since boot; null for none.
 */
export function judgeOwner(
  { owner, fsType }: Pick<CopyRecord, 'owner' | 'fsType'>,
  us: ProcessIdentity,
  startTime: string | null,
): OwnerJudgement {
  const unknown = (why: string): OwnerJudgement => ({ kind: 'unknown', why });
  const dead = (why: string, rebooted = false): OwnerJudgement => ({ kind: 'dead', why, rebooted });
  if (!LOCKABLE.has(fsType)) return unknown(`locks on ${fsType} do not prove that an owner is dead`);
  if (owner.machineId !== us.machineId) return unknown('its owner is of another machine');
  const rebooted = owner.bootId !== us.bootId;
  // Without a machine id, only the same boot shows that it is the same machine.
  if (rebooted && us.machineId === 'unknown') return unknown('nothing shows that it is of this machine');
  if (rebooted) return dead('the machine started again since', true);
  if (owner.pidNs !== us.pidNs) return dead('its lock is free; its number is of another pid namespace');
  if (startTime === null) return dead(`its lock is free and process ${owner.pid} is gone`);
  if (owner.startTime === 'unknown') return unknown(`process ${owner.pid} exists, and may be its owner`);
  if (owner.startTime !== startTime) return dead(`its lock is free and ${owner.pid} is another process now`);
  return { kind: 'alive', why: `process ${owner.pid} lives, though its lock is free` };
}

/** Everything that a decision rests on, as one look under the lock found it. */
export interface CopyFacts {
  /** The folder in `ctl/`: of a copy, of one that was never published, or of one whose removal is nearly over. */
  readonly entry: 'published' | 'unpublished' | 'dead';
  /** `missing`: the folder has no lock that could be held. */
  readonly lock: 'ours' | 'busy' | 'missing';
  /** The file system that the copies lie on now. */
  readonly fsType: string;
  /** Null where it is missing or cannot be read. */
  readonly record: { readonly state: CopyState; readonly agentStarted: boolean } | null;
  /** Null where there is no record. */
  readonly owner: OwnerJudgement | null;
  /** Where its files are. */
  readonly checkout: 'work' | 'grave' | 'both' | 'none';
  /** A process of the run holds `agent.lock`. */
  readonly agentAlive: boolean;
  /** The capture in the outbox that holds all of its work. */
  readonly saved: 'result' | 'salvage' | null;
  /** Why the captures that there are do not hold all of it; null where there is none. */
  readonly unsaved: string | null;
  readonly tombstone: 'intent' | 'done' | 'unreadable' | null;
  /** Why it is in quarantine. */
  readonly quarantine: string | null;
}

export type SweepStep =
  /** Its lock is held. */
  | 'skip_live'
  /** Nobody can tell whether its owner lives: kept, and said. */
  | 'report'
  /** Its lock is free and its owner lives: something is wrong. Kept, and said. */
  | 'conflict'
  /** Somebody has to look at it: kept until then. */
  | 'quarantine'
  | 'keep_quarantined'
  /** End the agent's processes first, then salvage or remove. */
  | 'end_agent'
  /** Capture what the dead owner had not, then remove. */
  | 'salvage'
  /** All its work is in the outbox, or nothing was ever started in it. */
  | 'remove'
  /** Go on with a removal whose remover died. */
  | 'resume_removal'
  /** A folder that never became a copy. */
  | 'clear_unpublished'
  /** The records of a copy that is gone. */
  | 'clear_dead';

export interface Decision {
  readonly step: SweepStep;
  readonly why: string;
}

export function nextStep(facts: CopyFacts): Decision {
  if (facts.lock === 'busy') return decide('skip_live', 'its lock is held');
  if (!LOCKABLE.has(facts.fsType)) {
    return decide('report', `the data directory lies on ${facts.fsType}, where locks prove nothing`);
  }
  if (facts.entry === 'dead') return nearlyOver(facts);
  if (facts.entry === 'unpublished') return neverPublished(facts);
  if (facts.lock === 'missing') return decide('report', 'it has no owner.lock');
  const { owner, record } = facts;
  if (record === null || owner === null) return decide('report', 'its record cannot be read');
  if (owner.kind === 'alive') return decide('conflict', owner.why);
  if (owner.kind === 'unknown') return decide('report', owner.why);
  return ofDeadOwner(facts, record, owner.why);
}

function ofDeadOwner(facts: CopyFacts, record: NonNullable<CopyFacts['record']>, why: string): Decision {
  if (facts.quarantine !== null) return decide('keep_quarantined', facts.quarantine);
  if (facts.tombstone === 'unreadable') return decide('quarantine', 'its tombstone cannot be read');
  if (facts.agentAlive) return decide('end_agent', `${why}, and processes of its run are alive`);
  if (facts.tombstone !== null) return decide('resume_removal', `${why}; its removal was begun`);
  if (facts.checkout === 'both') return decide('quarantine', 'it has files in work/ and in grave/');
  if (facts.saved !== null) return decide('remove', `${why}; its work is in the outbox (${facts.saved})`);
  // An agent starts only after `ready` was written, durably.
  const untouched = record.state === 'creating' && !record.agentStarted;
  if (untouched) return decide('remove', `${why}; nothing was ever started in it`);
  return decide('salvage', `${why}; ${facts.unsaved ?? 'its work was not captured'}`);
}

function neverPublished({ checkout, owner }: CopyFacts): Decision {
  if (checkout !== 'none') return decide('report', 'it was never published, and yet has files');
  if (owner?.kind === 'alive') return decide('conflict', owner.why);
  if (owner?.kind === 'unknown') return decide('report', owner.why);
  return decide('clear_unpublished', 'its owner died before the copy existed');
}

/** The name alone proves nothing: nothing of the copy may be there any more. */
function nearlyOver({ checkout }: CopyFacts): Decision {
  if (checkout !== 'none') return decide('report', 'it is marked as gone, and yet has files');
  return decide('clear_dead', 'the copy is gone; only its records are left');
}

function decide(step: SweepStep, why: string): Decision {
  return { step, why };
}
