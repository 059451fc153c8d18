/**
 * Why a run ended, from what was recorded of it. A cause is named only where there is evidence for it, which stands in
 * the detail; everything else is `unattributed`. Nothing is guessed.
 */
import type { CopyRecord } from '../records/copies.ts';
import type { DeathCause } from '../records/machine-events.ts';

export interface CauseOfDeath {
  readonly cause: DeathCause;
  /** The evidence, in words. */
  readonly detail: string;
  /** Of a program that ended by itself. */
  readonly exitCode?: number;
}

/** How a program ended, as its supervisor saw it. */
export type SeenEnding =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'timeout'; readonly afterMs: number }
  | { readonly kind: 'stopped'; readonly why: string }
  | { readonly kind: 'spawn_failed'; readonly why: string };

/** How many processes the kernel had killed for want of memory in the run's control group; null where it does not tell. */
export interface MemoryKills {
  readonly before: number | null;
  readonly after: number | null;
}

/**
 * The cause of an end that the supervisor saw. It never sees a kill of its own as `signal`: those are `timeout` and
 * `stopped`. So a SIGKILL here came from outside: from the kernel where its count of memory kills rose meanwhile (the
 * `oom_kill` of cgroup v2's `memory.events`), else from whom no record tells.
 */
export function causeOfEnding(ending: SeenEnding, memory: MemoryKills): CauseOfDeath {
  switch (ending.kind) {
    case 'exit':
      return {
        cause: 'exit',
        detail: `code ${ending.code}${killedMeanwhile(memory)}`,
        exitCode: ending.code,
      };
    case 'signal':
      return causeOfSignal(ending.signal, memory);
    case 'timeout':
      return { cause: 'timeout', detail: `after ${ending.afterMs} ms` };
    case 'stopped':
      return { cause: ending.why === 'lease_lost' ? 'lease_lost' : 'stopped', detail: ending.why };
    case 'spawn_failed':
      return { cause: 'spawn_failed', detail: ending.why };
  }
}

function causeOfSignal(signal: string, memory: MemoryKills): CauseOfDeath {
  if (signal !== 'SIGKILL') return { cause: 'signal', detail: `${signal}${killedMeanwhile(memory)}` };
  const { before, after } = memory;
  if (before === null || after === null) {
    return { cause: 'unattributed', detail: 'SIGKILL, not by us; memory kills cannot be read here' };
  }
  if (after > before) return { cause: 'out_of_memory', detail: `SIGKILL${killedMeanwhile(memory)}` };
  return { cause: 'unattributed', detail: 'SIGKILL, not by us, and no memory kill was counted' };
}

/** A child of the agent may be what was killed: then it stands beside the cause, and is not taken for it. */
function killedMeanwhile({ before, after }: MemoryKills): string {
  if (before === null || after === null || after <= before) return '';
  return `; memory kills in its control group rose from ${before} to ${after}`;
}

/** What a reaper can find out about the dead owner of a copy in which a run was going on. */
export interface OwnerFacts {
  readonly record: Pick<CopyRecord, 'owner'>;
  readonly bootIdNow: string;
  readonly machineIdNow: string;
  /** Whether an intent of ours to kill that very process is in the machine's ledger. */
  readonly killIntentOfOurs: boolean;
  /** Whether the kernel's count of memory kills in its control group rose; null where nobody can tell. */
  readonly oomKill: boolean | null;
  /** Whether its process was looked for, where it would be seen, and is gone; null where it would not be seen. */
  readonly ownerGone: boolean | null;
}

/**
 * Why a run ended whose supervisor did not live to record it. `supervisor_killed` says that the run went with its
 * supervisor; who ended that one is known only where the detail names an intent of ours.
 */
export function causeOfDeath(facts: OwnerFacts): CauseOfDeath {
  const { owner } = facts.record;
  const sameMachine = facts.machineIdNow !== 'unknown' && owner.machineId === facts.machineIdNow;
  if (!sameMachine)
    return { cause: 'unattributed', detail: 'its supervisor may have been on another machine' };
  if (owner.bootId !== facts.bootIdNow) {
    const detail = `the machine started again: boot ${owner.bootId}, now ${facts.bootIdNow}`;
    return { cause: 'host_reboot', detail };
  }
  const who = `its supervisor (pid ${owner.pid}, started at ${owner.startTime})`;
  if (facts.killIntentOfOurs) return { cause: 'supervisor_killed', detail: `${who} was killed by us` };
  if (facts.oomKill === true) {
    return {
      cause: 'out_of_memory',
      detail: `${who} is gone, and a memory kill was counted in its control group`,
    };
  }
  if (facts.ownerGone === true) {
    return { cause: 'supervisor_killed', detail: `${who} is gone; no kill of ours is on record` };
  }
  return { cause: 'unattributed', detail: `${who} holds its lock no more, and no record tells why` };
}
