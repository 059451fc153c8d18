/**
 * The close: a fresh look, the gate again, the complete note, the PATCH, and one more look, since GitHub has no
 * conditional close. Every step tests durable state, so that a stop between any two of them goes on where it was.
 */
import {
  type CloseEffect,
  type Criterion,
  type Disposition,
  type Dispositions,
  type GateAnswer,
  gate,
  type IssueRecord,
  LaneError,
  type Namespace,
  type Task,
} from '../../lanes/index.ts';
import type { IssueSnapshot } from '../github/issue.ts';
import { criteriaForTask, fittingDispositions, sameCriteria, withReading } from '../hooks/desk/criteria.ts';
import { cancelTask, release } from '../hooks/desk/ending.ts';
import type { Desk } from '../hooks/desk/port.ts';
import { updateRecord } from '../hooks/desk/records.ts';
import type { Pace } from './pace.ts';
import { noteKeyOf } from './parked-note.ts';
import type { BrokerDeps } from './port.ts';
import type { Poster } from './post.ts';

/** What the gate says of the issue as it is now. */
interface Verdict {
  readonly criteria: Criterion[];
  readonly dispositions: Dispositions;
  readonly answer: GateAnswer;
  /** Why it does not close, for people. */
  readonly detail: string;
}

const cause = { source: 'broker', event: 'close' } as const;

/**
 * Reads the criteria of a fresh look and asks the gate. An agent's verdicts are the task's; people's are taken from the
 * App's own record alone, since a worker can write what it likes into its namespace.
 */
async function freshVerdict(desk: Desk, task: Task, issue: IssueSnapshot): Promise<Verdict> {
  const outcome = await desk.readBody(issue.body);
  const record = await updateRecord(desk, issue.ref, (before) => {
    const matched = withReading(desk, before, outcome);
    return sameCriteria(matched.criteria, before.criteria) ? null : matched;
  });
  const criteria = criteriaForTask(record, task);
  const agents = Object.entries(task.dispositions).filter(([, { by }]) => by.kind === 'agent');
  const dispositions = { ...Object.fromEntries(agents), ...fittingDispositions(record, criteria) };
  const tooMany = outcome.kind === 'read' && outcome.reading.criteria.length > 200;
  if (outcome.kind === 'unreadable' || tooMany) {
    const why = outcome.kind === 'unreadable' ? outcome.why : 'it holds too many criteria';
    const answer = { close: false, reason: 'criteria_open', open: [] } as const;
    return { criteria, dispositions, answer, detail: `The body cannot be read any more: ${why}.` };
  }
  const answer = gate({ criteria, dispositions, proof: record.pointer?.proof ?? task.proof });
  const detail = answer.close ? '' : `Open now: ${answer.open.map((item) => item.criterion).join(', ')}`;
  return { criteria, dispositions, answer, detail };
}

/** The verdicts as a change of the task's: what is not among them is taken away. */
function asChange(task: Task, dispositions: Dispositions): Record<string, Disposition | null> {
  const none = Object.keys(task.dispositions).map((id): [string, null] => [id, null]);
  return { ...Object.fromEntries(none), ...dispositions };
}

export interface Closer {
  /** Delivers a close effect. The record is the binding that was checked. */
  deliver(namespace: Namespace, effect: CloseEffect, record: IssueRecord): Promise<void>;
}

export function makeCloser(deps: BrokerDeps, poster: Poster, pace: Pace): Closer {
  const { desk, engine, notes } = deps;

  const postComplete = (task: Task, verdict: Verdict, key: string): Promise<number> => {
    if (!verdict.answer.close) throw new Error('a complete note without a closing gate');
    const shown = { ...task, criteria: verdict.criteria, dispositions: verdict.dispositions };
    const { stateReason } = verdict.answer;
    const sequence = task.noteSequence;
    return poster.post({
      key,
      issue: task.issue,
      body: notes.render({
        state: 'complete',
        stateReason,
        task: shown,
        sequence,
        app: desk.app,
        atMs: desk.now(),
        open: [],
      }),
      isSame: (body) => notes.isNote(body, task.id, sequence),
    });
  };

  /** The fresh look differs: back to people. What was already said or done of the close is taken back. */
  const differs = async (task: Task, issue: IssueSnapshot, verdict: Verdict, key: string): Promise<void> => {
    const noted = await poster.posted(key);
    if (noted !== null) {
      await pace.turn(issue.ref.installation);
      if (issue.open) await desk.github.deleteComment(issue.ref, noted);
      else await desk.github.reopen(issue.ref);
    }
    await engine.settle(desk.caller(task.namespace), task.namespace, task.id, {
      to: 'parked',
      reason: 'criteria_changed',
      detail: verdict.detail,
      criteria: verdict.criteria,
      dispositions: asChange(task, verdict.dispositions),
    });
  };

  const patch = async (issue: IssueSnapshot, answer: GateAnswer): Promise<void> => {
    if (!issue.open || !answer.close) return;
    await pace.turn(issue.ref.installation);
    await desk.github.close(issue.ref, answer.stateReason);
  };

  const close = async (task: Task, issue: IssueSnapshot): Promise<void> => {
    const key = noteKeyOf(task.namespace, task.id, task.noteSequence);
    const verdict = await freshVerdict(desk, task, issue);
    if (!verdict.answer.close) return differs(task, issue, verdict, key);
    await postComplete({ ...task, issue: issue.ref }, verdict, key);
    await patch(issue, verdict.answer);
    const after = await desk.github.issue(issue.ref);
    if (after.kind === 'issue') {
      if (after.issue.bodyHash !== issue.bodyHash) {
        const again = await freshVerdict(desk, task, after.issue);
        if (!again.answer.close) return differs(task, after.issue, again, key);
      }
      if (after.issue.open) throw new LaneError('github_failed', 'the issue is open after it was closed');
    }
    const { criteria } = verdict;
    const dispositions = asChange(task, verdict.dispositions);
    const input = { to: 'complete', criteria, dispositions } as const;
    await engine.settle(desk.caller(task.namespace), task.namespace, task.id, input);
    await release(desk, issue.ref, task.id);
  };

  return {
    async deliver(namespace, effect, record) {
      const found = await desk.engine.get(desk.caller(namespace), namespace, effect.task.id);
      const task = found && { ...found, issue: record.issue };
      if (task?.state === 'complete') return release(desk, record.issue, task.id);
      // Parked again, or closing anew with a later effect: this one is of the past.
      if (task?.state !== 'closing' || task.noteSequence !== effect.sequence) return;
      const look = await desk.github.issue(record.issue);
      if (look.kind === 'gone') return cancelTask(desk, task, { reason: 'issue_gone', cause });
      await close(task, look.issue);
    },
  };
}
