/** Delivers a note on a transition that needs no fresh look: parked, or resumed. */
import {
  foundInstead,
  gate,
  type IssueRecord,
  type Namespace,
  type NoteEffect,
  parkReasonSchema,
} from '../../lanes/index.ts';
import { believable } from '../hooks/desk/criteria.ts';
import type { NoteInput } from './note/index.ts';
import type { BrokerDeps } from './port.ts';
import type { Poster } from './post.ts';

/** The key under which the broker remembers a note. */
export function noteKeyOf(namespace: Namespace, task: string, sequence: number): string {
  return `note:${namespace}:${task}:${sequence}`;
}

function noteInput(deps: BrokerDeps, effect: NoteEffect, record: IssueRecord): NoteInput {
  const dispositions = believable(record, effect.task.dispositions);
  const task = { ...effect.task, issue: record.issue, dispositions };
  const answer = gate(task);
  const facts = {
    task,
    sequence: effect.sequence,
    actor: effect.actor,
    app: deps.desk.app,
    atMs: effect.atMs,
    open: answer.close ? [] : answer.open,
    found: foundInstead(task.reason, task.detail),
  };
  if (effect.state === 'resumed') return { ...facts, state: 'resumed' };
  return { ...facts, state: 'parked', reason: parkReasonSchema.catch('held').parse(task.reason) };
}

/** Posts the note once. The record is the binding that was checked. */
export async function deliverNote(
  deps: BrokerDeps,
  poster: Poster,
  namespace: Namespace,
  effect: NoteEffect,
  record: IssueRecord,
): Promise<void> {
  await poster.post({
    key: noteKeyOf(namespace, effect.task.id, effect.sequence),
    issue: record.issue,
    body: deps.notes.render(noteInput(deps, effect, record)),
    isSame: (body) => deps.notes.isNote(body, effect.task.id, effect.sequence),
  });
}
