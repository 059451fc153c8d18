/** The short comments that are no notes: what was open when somebody closed an issue. */
import { gate, type Task } from '../../../lanes/index.ts';
import { neutraliseLine } from '../../broker/note/neutralise.ts';

const maxListed = 50;
const maxChars = 300;

/** The open criteria of a task as a list, with the author's words on one neutral line each. */
function openList(task: Task): string[] {
  const answer = gate(task);
  if (answer.close) return [];
  const open = new Map(answer.open.map((item) => [item.criterion, item.why]));
  const lines = task.criteria
    .filter((criterion) => open.has(criterion.id))
    .map((criterion) => {
      const text = neutraliseLine(criterion.text.slice(0, maxChars));
      return `- \`${criterion.id}\` ${text}`;
    });
  const more = lines.length - maxListed;
  return more > 0 ? [...lines.slice(0, maxListed), `- and ${more} more`] : lines;
}

function told(first: string, task: Task, last: string): string {
  const list = openList(task);
  const open = list.length === 0 ? [] : ['', 'These criteria have no closing disposition:', '', ...list];
  return [first, ...open, '', last].join('\n');
}

const again = 'To go on, reopen the issue, remove the label and set it again.';

/** A permitted person closed the issue: respected, and written down once. */
export function closedByHandText(task: Task): string {
  return told('Closed by hand, so the task is cancelled.', task, again);
}

/** Closed a second time after having been reopened once. */
export function closedAgainText(task: Task): string {
  return told('Closed again after it had been reopened once, so the task is cancelled.', task, again);
}

/** Closed by a merge, or by somebody who may not decide, while criteria are open. */
export function reopenedText(task: Task): string {
  const last =
    'The task goes on. A permitted person may close the issue by hand, or decide each criterion: see `/lane help`.';
  return told('Reopened: the issue was closed while criteria are open.', task, last);
}
