/**
 * The verbs on tasks: each authorizes its caller, asks a rule, and writes what the rule decided by one script. Where the
 * record changed in between, it is read again and the rule is asked again.
 */
import { isLaneError, LaneError } from './errors.ts';
import type { Caller, Namespace } from './namespaces.ts';
import { type Lease, runEndSchema } from './records/runs.ts';
import { liveStates, newTaskSchema, type Task, type TaskState, taskSchema } from './records/tasks.ts';
import { oneLine } from './rules/text.ts';
import { admitted } from './rules/transitions/admit.ts';
import { amend } from './rules/transitions/amend.ts';
import type { Act, Transition } from './rules/transitions/move.ts';
import { cancel, park, resume } from './rules/transitions/people.ts';
import { afterRun, handedBack } from './rules/transitions/run.ts';
import { settle } from './rules/transitions/settle.ts';
import type { Space } from './space.ts';
import { toLaneError } from './store/answers.ts';
import type { StoredTask } from './store/record.ts';
import type { LeaseDemand } from './store/tasks.ts';
import type { ByPerson, TaskVerbs } from './verbs.ts';

export interface VerbDeps {
  /** Authorizes the caller for the namespace and answers with it. */
  spaceFor(caller: Caller, ns: Namespace): Space;
  /** The namespaces that an unscoped look reaches: the caller's, without fleet namespaces. */
  unscoped(caller: Caller): Namespace[];
  id(): string;
  readonly leaseTtlMs: number;
}

/** How often a decision is made anew when others write first. */
const tries = 20;
/** Characters of a run's progress that are kept. */
const maxProgress = 500;

type Rule = (task: Task, act: Act) => Transition;

export function makeTaskVerbs(deps: VerbDeps): TaskVerbs {
  const { spaceFor, id, leaseTtlMs } = deps;
  const looks = (caller: Caller, ns?: Namespace): Space[] =>
    (ns === undefined ? deps.unscoped(caller) : [ns]).map((one) => spaceFor(caller, one));
  const change =
    <I>(rule: (task: Task, input: I, act: Act) => Transition) =>
    async (caller: Caller, ns: Namespace, task: string, input: I & ByPerson): Promise<Task> => {
      const by = { by: caller.identity, actor: input.actor };
      return decide(spaceFor(caller, ns), task, null, by, { mode: 'any' }, (one, act) =>
        sound(rule(one, input, act)),
      );
    };

  return {
    async admit(caller, admission) {
      const space = spaceFor(caller, admission.namespace);
      const valid = newTaskSchema.safeParse(admission);
      if (!valid.success) throw new LaneError('invalid_delivery', pathsOf(valid.error));
      const act = { by: caller.identity, nowMs: await space.tasks.now() };
      const move = admitted(valid.data, act);
      let woken: Promise<void> | undefined;
      // The wake-up leaves right behind the record, which halves what an admission waits for.
      const task = await space.tasks.admit(move, id(), () => {
        if (move.task.state !== 'queued') return;
        woken = wake(space, move.task);
        // Awaited below; where the admission fails first, that is the error to tell.
        woken.catch(() => {});
      });
      const ours = task === move.task ? woken : undefined;
      if (task.state === 'queued') await (ours ?? wake(space, task));
      return task;
    },
    get: async (caller, ns, task) => (await spaceFor(caller, ns).tasks.read(task))?.task ?? null,
    async count(caller, ns) {
      const counts = await Promise.all(looks(caller, ns).map((space) => space.listing.counts()));
      const sum = (state: TaskState): number => counts.reduce((total, one) => total + one[state], 0);
      const [queued, running, parked] = [sum('queued'), sum('running'), sum('parked')];
      return {
        queued,
        running,
        parked,
        closing: sum('closing'),
        complete: sum('complete'),
        cancelled: sum('cancelled'),
      };
    },
    async list(caller, ns, states = liveStates) {
      const lists = await Promise.all(looks(caller, ns).map((space) => space.listing.list(states)));
      return lists.flat();
    },
    claim: async (caller, ns, task) =>
      spaceFor(caller, ns).tasks.claim(task, caller.identity, id(), leaseTtlMs),
    async begin(caller, lease) {
      const held = await leased(deps, caller, lease).tasks.begin(lease);
      if (!held) throw new LaneError('lease_lost', lease.task);
    },
    async renew(caller, lease, progress = '') {
      const said = progress === '' ? '' : oneLine(progress, maxProgress);
      const renewed = await leased(deps, caller, lease).tasks.renew(lease, leaseTtlMs, said);
      if (renewed === null) throw new LaneError('lease_lost', lease.task);
      return renewed;
    },
    async record(caller, lease, task, end) {
      const space = leased(deps, caller, lease);
      if (task.id !== lease.task) throw new LaneError('lease_lost', lease.task);
      const valid = runEndSchema.safeParse(end);
      if (!valid.success) throw new LaneError('invalid_result', pathsOf(valid.error));
      const { data } = valid;
      const from = { task, epoch: lease.epoch };
      const by = { by: caller.identity };
      return decide(space, task.id, from, by, { mode: 'held', lease }, (one, act) =>
        afterRun(one, data, act),
      );
    },
    async handBack(caller, lease, why, waitMs = 0) {
      const space = leased(deps, caller, lease);
      const by = { by: caller.identity };
      return decide(space, lease.task, null, by, { mode: 'held', lease }, (one, act) =>
        handedBack(one, why, waitMs, act),
      );
    },
    park: change(park),
    resume: change(resume),
    cancel: change((task, input: { reason: string }, act) => cancel(task, input.reason, act)),
    amend: change(amend),
    settle: change(settle),
  };
}

/** A lease is good for its own namespace and worker only. */
function leased(deps: VerbDeps, caller: Caller, lease: Lease): Space {
  const space = deps.spaceFor(caller, lease.namespace);
  if (lease.worker !== caller.identity) throw new LaneError('lease_lost', `the lease is ${lease.worker}'s`);
  return space;
}

/**
 * Reads (or begins with `start`), asks the rule, writes; again where somebody else wrote first.
 * @throws LaneError what the rule refuses with; `lease_lost`, `unknown_task`; `task_conflict` when others always win.
 */
export async function decide(
  space: Space,
  id: string,
  start: StoredTask | null,
  by: Omit<Act, 'nowMs'>,
  demand: LeaseDemand,
  rule: Rule,
): Promise<Task> {
  const gone = demand.mode === 'held' ? 'lease_lost' : 'unknown_task';
  let from = start ?? (await space.tasks.read(id));
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (from === null) throw new LaneError(gone, id);
    const transition = rule(from.task, { ...by, nowMs: await space.tasks.now() });
    if ('refused' in transition) throw new LaneError(transition.refused, transition.why);
    const moved = await space.tasks.move(from, transition, demand);
    if (moved === 'missing' || moved === 'lease_lost') throw new LaneError(gone, id);
    if (moved === 'moved') {
      const { task } = transition;
      if (task.state === 'queued' && task.wakes !== from.task.wakes) await wake(space, task);
      return task;
    }
    from = await space.tasks.read(id);
    // The first answer to this record was lost on its way; it holds.
    if (moved === 'already' && from !== null) return from.task;
  }
  throw new LaneError('task_conflict', id);
}

/**
 * Gives a queued task its wake-up. The record is written by then, so that a Redis which goes away here is no failure of
 * the verb: the keeper adds what is missing.
 */
export async function wake(space: Space, task: Task): Promise<void> {
  try {
    await space.wakes().add(task, await space.tasks.now());
  } catch (error) {
    if (!isLaneError(toLaneError(error), 'store_unavailable')) throw toLaneError(error);
  }
}

/** A record that could not be read back is not written: it would hold its task for ever. */
function sound(transition: Transition): Transition {
  if ('refused' in transition) return transition;
  const checked = taskSchema.safeParse(transition.task);
  return checked.success ? transition : { refused: 'invalid_result', why: pathsOf(checked.error) };
}

/** Where a value is wrong; never the value. */
function pathsOf(error: { issues: readonly { path: readonly PropertyKey[] }[] }): string {
  return [...new Set(error.issues.map(({ path }) => path.map(String).join('.')))].slice(0, 5).join(', ');
}
