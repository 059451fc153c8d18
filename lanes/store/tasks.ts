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
import type { RedisClock } from './clock.ts';
import { effectsKey, epochKey, ledgerKey, stateKey, taskKey } from './keys.ts';
import { fromFields, type StoredTask, toFields } from './record.ts';
import { runScript, type Script } from './script.ts';
import { admitScript } from './scripts/admit.ts';
import { claimScript } from './scripts/claim.ts';
import { beginScript, renewScript } from './scripts/lease.ts';
import { moveScript, rewakeScript } from './scripts/move.ts';
import { taskFields } from './scripts/shared.ts';

export type Claim =
  | { readonly kind: 'claimed'; readonly task: Task; readonly lease: Lease }
  | {
      readonly kind: 'not_claimable';
      readonly state: TaskState | 'missing';
      readonly notBeforeMs: number;
      readonly nowMs: number;
    };

/** What must hold of the lease for a move: `held` by this lease; `ended`, for the keeper; `any`, for people. */
export type LeaseDemand =
  | { readonly mode: 'held'; readonly lease: Lease }
  | { readonly mode: 'ended' | 'any' };

const movedSchema = z.tuple([z.enum(['moved', 'missing', 'lease_lost', 'already', 'conflict']), z.number()]);
export type Moved = z.infer<typeof movedSchema>[0];

const numbersSchema = z.tuple([z.number(), z.number()]);
const admittedSchema = z.tuple([z.number(), z.number(), z.unknown()]);
const claimAnswerSchema = z.tuple([
  z.union([z.literal('claimed'), z.literal('missing'), taskStateSchema]),
  z.number(),
  z.unknown(),
]);

export interface TaskStore {
  /** Makes the record unless it is there; answers with the one that is there. */
  admit(move: Move, freshEpoch: string): Promise<{ task: Task; made: boolean }>;
  read(id: string): Promise<StoredTask | null>;
  claim(id: string, worker: string, leaseId: string, ttlMs: number): Promise<Claim>;
  /** Whether the lease is held; notes in the ledger that its run has begun. */
  begin(lease: Lease, detail: string): Promise<boolean>;
  /** The lease with its new end, or null where it is lost. */
  renew(lease: Lease, ttlMs: number): Promise<Lease | null>;
  /** Writes a move if the record is still `from`. */
  move(from: StoredTask, move: Move, demand: LeaseDemand): Promise<Moved>;
  /** Counts one more wake-up of a queued task; null where it changed meanwhile. */
  rewake(task: Task): Promise<Task | null>;
  /** Redis's time in ms. */
  now(): Promise<number>;
}

export function makeTaskStore(redis: Redis, ns: Namespace, clock: RedisClock): TaskStore {
  const run = (script: Script, keys: string[], args: (string | number)[]): Promise<unknown> =>
    ask(redis, () => runScript(redis, script, keys, args));
  const scoreOf = (task: Task): number => (task.state === 'queued' ? task.notBeforeMs : task.changedAtMs);

  return {
    async admit(move, freshEpoch) {
      const { task, effects, event } = move;
      const keys = [
        taskKey(ns, task.id),
        epochKey(ns),
        stateKey(ns, task.state),
        effectsKey(ns),
        ledgerKey(ns),
      ];
      const head = [task.id, scoreOf(task), freshEpoch, event.by, event.detail];
      const args = [
        ...head,
        effects.length,
        ...effects.map((effect) => JSON.stringify(effect)),
        ...toFields(task),
      ];
      const [made, now, fields] = admittedSchema.parse(await run(admitScript, keys, args));
      clock.observe(now);
      return { task: fromFields(fields)?.task ?? task, made: made === 1 };
    },

    async read(id) {
      return fromFields(await ask(redis, () => redis.hmget(taskKey(ns, id), ...taskFields)));
    },

    async claim(id, worker, leaseId, ttlMs) {
      const keys = [taskKey(ns, id), stateKey(ns, 'queued'), stateKey(ns, 'running'), ledgerKey(ns)];
      const answer = await run(claimScript, keys, [id, worker, leaseId, ttlMs]);
      const [kind, nowMs, rest] = claimAnswerSchema.parse(answer);
      clock.observe(nowMs);
      if (kind !== 'claimed') return { kind: 'not_claimable', state: kind, notBeforeMs: Number(rest), nowMs };
      const task = fromFields(rest)?.task;
      if (task?.lease === undefined)
        return { kind: 'not_claimable', state: 'missing', notBeforeMs: 0, nowMs };
      return { kind: 'claimed', task, lease: task.lease };
    },

    async begin(lease, detail) {
      const keys = [taskKey(ns, lease.task), ledgerKey(ns)];
      const answer = await run(beginScript, keys, [...leaseArgs(lease), lease.task, detail]);
      const [held, now] = numbersSchema.parse(answer);
      clock.observe(now);
      return held === 1;
    },

    async renew(lease, ttlMs) {
      const keys = [taskKey(ns, lease.task), stateKey(ns, 'running')];
      const answer = await run(renewScript, keys, [...leaseArgs(lease), lease.task, ttlMs]);
      const [endsAtMs, now] = numbersSchema.parse(answer);
      clock.observe(now);
      return endsAtMs === 0 ? null : { ...lease, endsAtMs };
    },

    async move({ task: from, epoch }, { task, effects, event }, demand) {
      const indexes = [stateKey(ns, from.state), stateKey(ns, task.state)];
      const keys = [taskKey(ns, from.id), ...indexes, effectsKey(ns), ledgerKey(ns)];
      const lease = demand.mode === 'held' ? leaseArgs(demand.lease) : ['', '', '', '', ''];
      const recordedBy = demand.mode === 'held' ? ['recordedBy', demand.lease.id] : [];
      const args = [
        ...[from.id, from.state, from.revision, epoch, demand.mode, ...lease, scoreOf(task)],
        ...[event.event, task.run, task.fence, event.by, event.detail.slice(0, 2_000)],
        ...[effects.length, ...effects.map((effect) => JSON.stringify(effect))],
        ...[...toFields(task), ...recordedBy],
      ];
      const [moved, now] = movedSchema.parse(await run(moveScript, keys, args));
      clock.observe(now);
      return moved;
    },

    async rewake(task) {
      const answer = await run(rewakeScript, [taskKey(ns, task.id)], [task.revision]);
      const [counted, now] = numbersSchema.parse(answer);
      clock.observe(now);
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

function leaseArgs(lease: Lease): (string | number)[] {
  return [lease.id, lease.fence, lease.worker, lease.run, lease.epoch];
}
