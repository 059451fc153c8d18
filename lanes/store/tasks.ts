/**
 * The tasks of one namespace. A task moves by one script that compares what the decision was based on; claims, begins
 * and renewals have scripts of their own, for speed. Every function asks Redis within a bounded time.
 */
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Namespace } from '../namespaces.ts';
import type { Lease } from '../records/runs.ts';
import { type Task, type TaskState, taskStateSchema } from '../records/tasks.ts';
import type { Move } from '../rules/transitions/move.ts';
import { ask } from './answers.ts';
import { makeBatch } from './batch.ts';
import type { RedisClock } from './clock.ts';
import { effectsKey, epochKey, ledgerKey, pausedKey, statesKey, taskKey } from './keys.ts';
import { ledgerLine } from './ledger.ts';
import {
  assemble,
  fromFields,
  headStart,
  leaseText,
  progressText,
  type StoredTask,
  taskFields,
  toDoc,
  toHead,
} from './record.ts';
import { scoreOf } from './scores.ts';
import { admitScript } from './scripts/admit.ts';
import { claimScript } from './scripts/claim.ts';
import { beginScript, renewScript } from './scripts/lease.ts';
import { moveScript, rewakeScript } from './scripts/move.ts';

export type Claim =
  | { readonly kind: 'claimed'; readonly task: Task; readonly lease: Lease }
  | {
      readonly kind: 'not_claimable';
      readonly state: TaskState | 'missing' | 'paused';
      readonly notBeforeMs: number;
      readonly nowMs: number;
    };

/** What must hold of the lease for a move: `held` by this lease; `ended`, for the keeper; `any`, for people. */
export type LeaseDemand =
  | { readonly mode: 'held'; readonly lease: Lease }
  | { readonly mode: 'ended' | 'any' };

const movedSchema = z.enum(['moved', 'missing', 'lease_lost', 'already', 'conflict']);
export type Moved = z.infer<typeof movedSchema>;

export interface TaskStore {
  /**
   * Makes the record unless it is there; answers with the one that is there. `onSent` is called when what is sent next
   * on this connection comes after it; not always.
   */
  admit(move: Move, freshEpoch: string, onSent: () => void): Promise<Task>;
  read(id: string): Promise<StoredTask | null>;
  claim(id: string, worker: string, leaseId: string, ttlMs: number): Promise<Claim>;
  /** Whether the lease is held. */
  begin(lease: Lease): Promise<boolean>;
  /** The lease with its new end, or null where it is lost. An empty progress leaves what was said before. */
  renew(lease: Lease, ttlMs: number, progress: string): Promise<Lease | null>;
  /** Writes a move if the record is still `from`. */
  move(from: StoredTask, move: Move, demand: LeaseDemand): Promise<Moved>;
  /** Counts one more wake-up of a queued task; null where it changed meanwhile. */
  rewake(task: Task): Promise<Task | null>;
  /** Redis's time in ms. */
  now(): Promise<number>;
}

export function makeTaskStore(redis: Redis, ns: Namespace, clock: RedisClock): TaskStore {
  const [states, ledger] = [statesKey(ns), ledgerKey(ns)];
  const forAdmit = [epochKey(ns), states, effectsKey(ns), ledger];
  const forClaim = [states, ledger, pausedKey(ns)];
  const forRenew = [states];
  const forMove = [states, effectsKey(ns), ledger];
  const keyOf = (task: string): string => taskKey(ns, task);

  const run = makeBatch(redis, clock.observe);

  async function read(id: string): Promise<StoredTask | null> {
    return fromFields(await ask(redis, () => redis.hmget(keyOf(id), ...taskFields)));
  }

  return {
    read,

    async admit({ task, effects, event: { by, detail } }, freshEpoch, onSent) {
      const line = ledgerLine(task, { event: 'admitted', by, detail });
      const order = { task: task.id, score: scoreOf(task), freshEpoch, line };
      const texts = textsOf(task, '', effects);
      const [made] = await run(admitScript, forAdmit, keyOf(task.id), order, texts, onSent);
      return made === 1 ? task : ((await read(task.id))?.task ?? task);
    },

    async claim(task, worker, lease, ttlMs) {
      const order = { task, worker, lease, ttlMs };
      const [kind, now, ...rest] = await run(claimScript, forClaim, keyOf(task), order);
      if (kind === 'claimed') {
        const claimed = assemble(rest).task;
        if (claimed.lease !== undefined) return { kind, task: claimed, lease: claimed.lease };
      }
      const state = kind === 'missing' || kind === 'paused' ? kind : taskStateSchema.parse(kind);
      return { kind: 'not_claimable', state, notBeforeMs: Number(rest[0]), nowMs: Number(now) };
    },

    async begin(lease) {
      const [held] = await run(beginScript, [], keyOf(lease.task), { lease: leaseText(lease) });
      return held === 1;
    },

    async renew(lease, ttlMs, said) {
      const progress = progressText(lease.fence, said);
      const order = { lease: leaseText(lease), task: lease.task, ttlMs, progress };
      const [endsAtMs] = await run(renewScript, forRenew, keyOf(lease.task), order);
      return endsAtMs === 0 ? null : { ...lease, endsAtMs: Number(endsAtMs) };
    },

    async move({ task: from, epoch }, { task, effects, event }, demand) {
      const lease = demand.mode === 'held' ? leaseText(demand.lease) : '';
      const order = {
        mode: demand.mode,
        lease,
        from: headStart(from),
        fromEpoch: epoch,
        task: from.id,
        score: task.state === from.state && task.notBeforeMs === from.notBeforeMs ? '' : scoreOf(task),
        line: ledgerLine(task, event),
      };
      const texts = textsOf(task, lease, effects);
      const [moved] = await run(moveScript, forMove, keyOf(from.id), order, texts);
      return movedSchema.parse(moved);
    },

    async rewake(task) {
      const [counted] = await run(rewakeScript, [], keyOf(task.id), { expected: task.revision });
      return counted === 1 ? { ...task, wakes: task.wakes + 1, revision: task.revision + 1 } : null;
    },

    async now() {
      const known = clock.now();
      if (known !== undefined) return known;
      const [seconds = 0, micros = 0] = (await ask(redis, () => redis.time())).map(Number);
      clock.observe(seconds * 1000 + Math.floor(micros / 1000));
      return clock.now() ?? 0;
    },
  };
}

/** What a script writes of a task: its doc, its head with the lease that recorded last, then the effects. */
function textsOf(task: Task, recordedBy: string, effects: Move['effects']): string[] {
  return [toDoc(task), toHead(task, recordedBy), ...effects.map((effect) => JSON.stringify(effect))];
}
