/** One run on a box: held from the claim to the record, supervised as everywhere, and told to the App. */
import {
  type ClaimAnswer,
  type HostPort,
  type InHandStore,
  isLaneError,
  type Lane,
  type Lease,
  type RunOrder,
  type RunOutcome,
  type Workplace,
} from '../../lanes/index.ts';
import type { FleetClient } from './client.ts';
import { holdLease, isShutOut, leaseOf } from './held.ts';
import { deliver, persist } from './settle.ts';

/** What a run asks of the App. */
export interface RunPorts {
  readonly host: HostPort;
  readonly begin: (lease: Lease) => Promise<void>;
}

export interface BoxParts {
  readonly client: FleetClient;
  readonly place: Workplace;
  readonly inHand: InHandStore;
  readonly supervise: (ports: RunPorts, lane: Lane, order: RunOrder) => Promise<RunOutcome>;
  readonly log: (message: string, about?: object) => void;
}

/** How long what has ended may take to reach the App once the box is told to go. */
const handOverMs = 20_000;

/**
 * Carries out one claimed run. What goes wrong with it ends the run, not the box.
 * @param stop aborts where the box is told to go: the run is stopped, captured and handed back
 * @throws LaneError where the box is shut out: its token or grant is gone
 */
export async function runClaim(parts: BoxParts, claim: ClaimAnswer, stop: AbortSignal): Promise<void> {
  const lease = leaseOf(claim, parts.place.owner.instance);
  const hold = holdLease(parts.client, { ...claim, lease });
  const run = new AbortController();
  const lose = () => run.abort('lease_lost');
  const leave = () => run.abort('shutdown');
  hold.signal.addEventListener('abort', lose, { once: true });
  stop.addEventListener('abort', leave, { once: true });
  if (stop.aborted) leave();
  try {
    const order = { task: claim.taskRecord, lease, lane: claim.lane, signal: run.signal };
    const outcome = await parts.supervise(portsOf(parts.client, claim), claim.lane, order);
    await settle(parts, claim, outcome, hold.signal, stop);
  } catch (error) {
    if (isShutOut(error)) throw error;
    parts.log('a run could not be told to the App; what it did is in the outbox', { err: error });
  } finally {
    hold.stop();
    stop.removeEventListener('abort', leave);
  }
  if (isShutOut(hold.signal.reason)) throw hold.signal.reason;
}

/** The App has looked at the issue when it gave the claim out; what is left to ask for is the way to the code. */
function portsOf(client: FleetClient, { lease, input }: ClaimAnswer): RunPorts {
  return {
    host: {
      async allowed() {
        const { url, token } = await client.checkout(lease);
        const clone = token === undefined ? { url } : { url, token };
        return { allowed: true, input: { ...input, clone } };
      },
      lookUp: (_lease, query) => client.lookUp(lease, query),
    },
    begin: () => client.begin(lease),
  };
}

async function settle(
  parts: BoxParts,
  claim: ClaimAnswer,
  outcome: RunOutcome,
  lost: AbortSignal,
  stop: AbortSignal,
): Promise<void> {
  const { client, log } = parts;
  const { lease, namespace, task, run } = claim;
  if (outcome.kind === 'not_allowed') return;
  if (outcome.kind === 'stopped') {
    log('a run was stopped', { task, run, why: outcome.why });
    const why = handBackWords[outcome.why];
    if (why !== undefined) await persist(() => client.handBack(lease, why), lost);
    return;
  }
  await parts.inHand.keep({ v: 1, lease, namespace, task, run, end: outcome });
  await handOver(parts, { lease, end: outcome, task, run }, lost, stop);
}

/** A run that nothing ended but us is given back; one that was taken from us is nobody's to give. */
const handBackWords: Readonly<Partial<Record<string, string>>> = {
  shutdown: 'the box was shut down',
  app_unreachable: 'GitHub could not be asked',
};

/** Tells an end that is on disk. It leaves the disk once it is recorded, or cannot be any more. */
async function handOver(
  parts: BoxParts,
  one: {
    lease: string;
    end: Extract<RunOutcome, { kind: 'result' | 'died' | 'unable' }>;
    task: string;
    run: number;
  },
  lost: AbortSignal,
  stop: AbortSignal,
): Promise<void> {
  const { task, run } = one;
  const late = deadlineAfter(stop, handOverMs);
  try {
    const state = await deliver(parts, one, AbortSignal.any([lost, late.signal]));
    parts.log('a run is recorded', { task, run, end: one.end.kind, state });
  } catch (error) {
    if (!late.signal.aborted) throw error;
    await persist(() => parts.client.handBack(one.lease, 'the box was shut down'), lost);
  } finally {
    late.clear();
    await parts.inHand.drop();
  }
}

/** A signal that aborts some time after another one. */
function deadlineAfter(signal: AbortSignal, afterMs: number): { signal: AbortSignal; clear(): void } {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const wind = () => {
    timer = setTimeout(() => late.abort(), afterMs);
  };
  if (signal.aborted) wind();
  else signal.addEventListener('abort', wind, { once: true });
  return {
    signal: late.signal,
    clear() {
      clearTimeout(timer);
      signal.removeEventListener('abort', wind);
    },
  };
}

/**
 * Goes on with what an earlier process of this box left between its run's end and the App's record, if the lease still
 * holds. Else it is given up: the App has queued the task anew, and its next run finds the patch in the outbox.
 * @throws LaneError where the box is shut out.
 */
export async function goOn(parts: BoxParts, stop: AbortSignal): Promise<void> {
  const left = await parts.inHand.read();
  if (left === null) return;
  const { lease: text, namespace, task, run, end } = left;
  parts.log('going on with a run whose end was not told', { task, run });
  try {
    const endsInMs = await persist(() => parts.client.heartbeat(text), stop);
    const about = {
      namespace,
      task,
      run,
      fence: 1,
      worker: parts.place.owner.instance,
      epoch: '',
      endsAtMs: 0,
    };
    const hold = holdLease(parts.client, {
      lease: { ...about, id: text },
      endsInMs,
      heartbeatEveryMs: Math.max(Math.floor(endsInMs / 3), 100),
    });
    try {
      await handOver(parts, { lease: text, end, task, run }, hold.signal, stop);
    } finally {
      hold.stop();
    }
  } catch (error) {
    if (isShutOut(error)) throw error;
    if (!isLaneError(error, 'lease_lost') && !stop.aborted) parts.log('it could not be told', { err: error });
    if (isLaneError(error, 'lease_lost')) await parts.inHand.drop();
  }
}
