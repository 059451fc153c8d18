import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunEnd } from '../../../lanes/records/runs.ts';
import { parkReasonSchema, type Task, taskSchema } from '../../../lanes/records/tasks.ts';
import { backoffMs } from '../../../lanes/rules/retry.ts';
import { admitted } from '../../../lanes/rules/transitions/admit.ts';
import { amend } from '../../../lanes/rules/transitions/amend.ts';
import type { Move, Transition } from '../../../lanes/rules/transitions/move.ts';
import { cancel, park, resume } from '../../../lanes/rules/transitions/people.ts';
import { afterRun, expired, handedBack } from '../../../lanes/rules/transitions/run.ts';
import { settle } from '../../../lanes/rules/transitions/settle.ts';
import { alice, byAlice, crash, criterion, lane, met, newTask, result } from '../../support/tasks.ts';

const act = { by: 'app', nowMs: 1_000_000 };
const byPerson = { ...act, actor: alice };
const queued = admitted(newTask(), act).task;

/** What the claim script does, for rules that begin with a running task. */
function claimed(task: Task): Task {
  const [fence, run] = [task.fence + 1, task.run + 1];
  const ids = { id: `lease-of-run-${String(run).padStart(4, '0')}`, worker: 'worker-a', epoch: 'e' };
  const lease = { namespace: lane, task: task.id, run, fence, ...ids, endsAtMs: act.nowMs + 15_000 };
  const counts = { revision: task.revision + 1, runsUsed: task.runsUsed + 1, fence, run };
  return { ...task, ...counts, state: 'running', lease, claimedBy: 'worker-a' };
}

function moved(transition: Transition): Move {
  if ('refused' in transition) throw new Error(`refused: ${transition.refused}, ${transition.why}`);
  taskSchema.parse(transition.task);
  return transition;
}

const running = claimed(queued);
const parkedFor = (reason: Task['reason']): Task => ({
  ...moved(park(queued, { reason: 'held', detail: '' }, act)).task,
  reason,
});
const closing = moved(afterRun(running, result([met('c1')]), act)).task;
const ended = [
  moved(settle(closing, { to: 'complete' }, act)).task,
  moved(cancel(queued, 'label removed', act)).task,
];

describe('admission', () => {
  it('queues a task with a first wake-up', () => {
    expect(queued).toMatchObject({ state: 'queued', run: 0, fence: 0, wakes: 1, notBeforeMs: act.nowMs });
  });

  it('parks at once, with a note, where there is nothing to work on', () => {
    const { task, effects } = admitted(
      newTask({ parked: { reason: 'no_criteria', detail: 'none found' } }),
      act,
    );
    expect(task).toMatchObject({ state: 'parked', reason: 'no_criteria', noteSequence: 1 });
    expect(effects).toMatchObject([
      { kind: 'note', state: 'parked', sequence: 1, task: { reason: 'no_criteria' } },
    ]);
  });
});

describe('a running task', () => {
  it('whose run died is queued with backoff while runs are left, without a note', () => {
    const { task, effects } = moved(afterRun(running, crash, act));
    expect(task).toMatchObject({ state: 'queued', notBeforeMs: act.nowMs + 10_000, runsUsed: 1, wakes: 2 });
    expect(task.lease).toBeUndefined();
    expect(task.history).toMatchObject([{ run: 1, worker: 'worker-a', outcome: 'died' }]);
    expect(effects).toEqual([]);
  });

  it('whose last run died is parked as runs_exhausted', () => {
    const last = { ...running, runsUsed: 3 };
    const { task, effects } = moved(afterRun(last, crash, act));
    expect(task).toMatchObject({ state: 'parked', reason: 'runs_exhausted' });
    expect(effects).toHaveLength(1);
  });

  it('whose last run died says what its program printed last', () => {
    const { task } = moved(afterRun({ ...running, runsUsed: 3 }, { ...crash, tail: 'no such file\n' }, act));
    expect(task.detail).toMatch(/^The last of 3 runs ended: .+\n\nno such file$/);
    const noise = { ...crash, tail: `${'noise\n'.repeat(1_300)}no such file\n` };
    const { task: noisy } = moved(afterRun({ ...running, runsUsed: 3 }, noise, act));
    expect(noisy.detail).toMatch(/^The last of 3 runs ended: [\s\S]+\nno such file$/);
  });

  it('whose lease ended is treated as a death', () => {
    expect(moved(expired(running, act)).task).toMatchObject({
      state: 'queued',
      notBeforeMs: act.nowMs + 10_000,
    });
    expect(moved(expired({ ...running, runsUsed: 3 }, act)).task).toMatchObject({ reason: 'runs_exhausted' });
  });

  it('that is handed back is queued at once, and the run is not counted', () => {
    const { task } = moved(handedBack(running, 'shutdown', 0, act));
    expect(task).toMatchObject({ state: 'queued', notBeforeMs: act.nowMs, runsUsed: 0, run: 1, fence: 1 });
  });

  it('that is handed back for a while waits for so long', () => {
    expect(moved(handedBack(running, 'outage', 60_000, act)).task.notBeforeMs).toBe(act.nowMs + 60_000);
  });

  it('goes to closing when the gate would close', () => {
    expect(closing).toMatchObject({ state: 'closing', noteSequence: 1 });
    const { effects } = moved(afterRun(running, result([met('c1')]), act));
    expect(effects).toMatchObject([{ kind: 'close', sequence: 1, task: { id: running.id } }]);
  });

  it.each([
    ['criteria_open', result([])],
    ['proof_unverified', result([met('c1', { evidence: [] })])],
    ['needs_answer', result([met('c1')], { outcome: 'needs_person', question: 'Which one?' })],
    ['disk', { kind: 'unable', reason: 'disk', detail: 'full' }],
    ['nothing_to_check', { kind: 'unable', reason: 'nothing_to_check', detail: '' }],
  ] as [string, RunEnd][])('is parked as %s', (reason, end) => {
    const { task, effects } = moved(afterRun(running, end, act));
    expect(task).toMatchObject({ state: 'parked', reason });
    expect(effects).toMatchObject([{ kind: 'note', state: 'parked', task: { state: 'parked', reason } }]);
  });

  it('keeps what the agent said when it is parked', () => {
    const proposal = met('c1', { kind: 'waived', reason: 'not ours' });
    const end = result([met('c1', { kind: 'partial' })], { proposals: [proposal], summary: 'half' });
    const { task } = moved(afterRun(running, end, act));
    expect(task).toMatchObject({
      summary: 'half',
      proposals: [proposal],
      dispositions: { c1: { kind: 'partial' } },
    });
  });

  it("keeps a person's verdict that still fits over the agent's", () => {
    const judged = { ...running, dispositions: { c1: byAlice('c1', 'not_met') } };
    expect(moved(afterRun(judged, result([met('c1')]), act)).task).toMatchObject({ reason: 'criteria_open' });
    const reworded = { ...judged, criteria: [criterion('c1', { revision: 2 })] };
    expect(moved(afterRun(reworded, result([met('c1', { revision: 2 })]), act)).task.state).toBe('closing');
  });

  it('leaves out verdicts on criteria that it does not have', () => {
    const { task } = moved(afterRun(running, result([met('c1'), met('zz')]), act));
    expect(Object.keys(task.dispositions)).toEqual(['c1']);
  });
});

describe('backoff', () => {
  it('is 10 s, doubles, and ends at 10 min', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 500].map(backoffMs)).toEqual([
      10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000, 600_000,
    ]);
  });
});

describe('a person', () => {
  it.each([queued, running, parkedFor('criteria_open'), closing])(
    'parks a task that is $state; its fence rises',
    (task) => {
      const { task: next, effects } = moved(park(task, { reason: 'held', detail: 'wait' }, byPerson));
      expect(next).toMatchObject({ state: 'parked', reason: 'held', fence: task.fence + 1 });
      expect(next.lease).toBeUndefined();
      expect(effects).toMatchObject([{ kind: 'note', state: 'parked', actor: alice }]);
    },
  );

  it.each([queued, running, parkedFor('held'), closing])(
    'cancels a task that is $state, without a note',
    (task) => {
      const { task: next, effects } = moved(cancel(task, 'label removed', byPerson));
      expect(next).toMatchObject({ state: 'cancelled', reason: 'label removed', fence: task.fence + 1 });
      expect(effects).toEqual([]);
    },
  );

  it('resumes a parked task with all its runs, an answer and a note', () => {
    const tired = { ...parkedFor('runs_exhausted'), runsUsed: 3 };
    const { task, effects, event } = moved(resume(tired, { answer: 'use tabs' }, byPerson));
    expect(task).toMatchObject({ state: 'queued', runsUsed: 0, answers: [{ by: alice, text: 'use tabs' }] });
    expect(task.reason).toBeUndefined();
    expect(effects).toMatchObject([
      { kind: 'note', state: 'resumed', actor: alice, task: { state: 'queued' } },
    ]);
    expect(event.by).toBe('app (@alice)');
  });

  it.each([queued, running, closing])('cannot resume a task that is $state', (task) => {
    expect(resume(task, {}, byPerson)).toMatchObject({ refused: 'wrong_state' });
  });
});

describe('amending', () => {
  const waived = { dispositions: { c1: byAlice('c1', 'waived') } };

  it.each(parkReasonSchema.options)(
    "closes a task parked as %s once the gate is satisfied, unless it is a person's hold",
    (reason) => {
      const { task, effects } = moved(amend(parkedFor(reason), waived, byPerson));
      const waits = reason === 'held' || reason === 'edited_after_approval';
      expect(task.state).toBe(waits ? 'parked' : 'closing');
      expect(effects.map(({ kind }) => kind)).toEqual(waits ? [] : ['close']);
    },
  );

  it.each([queued, running, closing])('leaves a task that is $state in its state', (task) => {
    const { task: next } = moved(amend(task, waived, byPerson));
    expect(next).toMatchObject({ state: task.state, dispositions: { c1: { kind: 'waived' } } });
    expect(next.lease).toEqual(task.lease);
  });

  it('opens a criterion again', () => {
    const { task } = moved(amend(closing, { dispositions: { c1: null } }, byPerson));
    expect(task.dispositions).toEqual({});
  });
});

describe('settling', () => {
  it('completes what the gate still closes', () => {
    expect(ended[0]).toMatchObject({ state: 'complete' });
  });

  it('parks what the fresh look found changed', () => {
    const criteria = [criterion('c1'), criterion('c2')];
    const input = { to: 'parked', reason: 'criteria_changed', detail: 'c2 is new', criteria } as const;
    const { task, effects } = moved(settle(closing, input, act));
    expect(task).toMatchObject({ state: 'parked', reason: 'criteria_changed', criteria });
    expect(effects).toMatchObject([{ kind: 'note', state: 'parked', sequence: 2 }]);
  });

  it('refuses to complete a task whose gate was opened meanwhile', () => {
    const opened = moved(amend(closing, { dispositions: { c1: null } }, byPerson)).task;
    expect(settle(opened, { to: 'complete' }, act)).toMatchObject({ refused: 'task_conflict' });
  });
});

type Step = (task: Task) => Transition;
const steps: Record<string, Step> = {
  claim: (task) =>
    task.state === 'queued'
      ? { task: claimed(task), effects: [], event: { event: 'claimed', by: 'w', detail: '' } }
      : { refused: 'wrong_state', why: '' },
  crash: (task) => afterRun(task, crash, act),
  done: (task) => afterRun(task, result([met('c1')]), act),
  open: (task) => afterRun(task, result([]), act),
  expire: (task) => expired(task, act),
  handBack: (task) => handedBack(task, 'x', 0, act),
  park: (task) => park(task, { reason: 'held', detail: '' }, act),
  resume: (task) => resume(task, { answer: 'a' }, byPerson),
  cancel: (task) => cancel(task, 'c', act),
  waive: (task) => amend(task, { dispositions: { c1: byAlice('c1', 'waived') } }, act),
  reopen: (task) => amend(task, { dispositions: { c1: null } }, act),
  complete: (task) => settle(task, { to: 'complete' }, act),
  changed: (task) => settle(task, { to: 'parked', reason: 'criteria_changed', detail: '' }, act),
};

describe('whatever happens to a task, in whatever order', () => {
  it('keeps the invariants', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 40 }), (names) => {
        let task = queued;
        for (const name of names) {
          const transition = steps[name]?.(task);
          const dead = task.state === 'complete' || task.state === 'cancelled';
          if (transition === undefined || 'refused' in transition) continue;
          expect(dead, `${name} moved an ended task`).toBe(false);
          checkStep(name, task, moved(transition));
          task = transition.task;
        }
      }),
      { numRuns: 1_500 },
    );
  });
});

function checkStep(name: string, before: Task, { task, effects }: Move): void {
  expect(task.revision).toBe(before.revision + 1);
  expect(task.fence).toBeGreaterThanOrEqual(before.fence);
  if (name === 'claim' || name === 'park' || name === 'cancel') expect(task.fence).toBe(before.fence + 1);
  expect(task.run).toBeGreaterThanOrEqual(before.run);
  expect(task.noteSequence).toBe(before.noteSequence + effects.length);
  expect(task.lease !== undefined).toBe(task.state === 'running');
  expect(task.reason !== undefined).toBe(task.state === 'parked' || task.state === 'cancelled');
  if (task.run > 0) expect(task.claimedBy).toBe('worker-a');
  if (task.state === 'queued' && before.state !== 'queued') expect(task.wakes).toBe(before.wakes + 1);
  if (task.state === 'complete') expect(before.state).toBe('closing');
}
