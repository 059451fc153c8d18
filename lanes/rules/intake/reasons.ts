/** The reasons of decisions about events: a stable code and one sentence for a person, as `explain` shows them. */

export const reasons = {
  admitted: 'The issue was admitted to the lane.',
  admitted_parked: 'The issue was admitted, and parked at once because there is nothing to work on yet.',
  not_a_lane: 'The label belongs to no lane.',
  own_event: 'The event was caused by this App itself.',
  bot: 'Events by bots are ignored, unless the lane allows that bot.',
  pull_request: 'Pull requests are not worked on, only issues.',
  repository_not_listed: "The repository is not in the operator's list.",
  lane_off: "The repository's file does not use this lane.",
  repository_file_broken: "The repository's file cannot be read, and no earlier version of it is known.",
  not_permitted: 'Whoever did it has no triage permission. Somebody who has can do it again.',
  issue_closed: 'The issue is closed. Reopen it and set the label again.',
  issue_locked:
    'The issue is locked, so that nothing could be written on it. Unlock it and set the label again.',
  not_writable: 'The repository is archived, so that nothing can be written on it.',
  issue_busy: 'Another lane works on this issue. The label is looked at again when that task ends.',
  duplicate: 'The lane has a task for this issue already.',
  label_not_set: 'The label is not set any more.',
  invalid_payload: 'The delivery does not hold what GitHub sends for this event.',
  gone: 'The issue or its repository is gone, or the App may not see it any more.',
  still_there: 'The issue is still there.',
  no_task: 'No task is live for this issue.',
  body_unchanged: 'The body was not changed.',
  amended: 'The criteria were read again and matched with what was known.',
  amended_unapproved: 'The criteria were read again. The editor may not approve the new body.',
  criteria_added: 'A permitted person added acceptance criteria.',
  edited_again: 'The body was edited again since; the newer edit decides.',
  unreadable_body: 'The body cannot be read within its limits.',
  still_parked: 'The task stays parked: the edit does not give it what it waits for.',
  label_removed: "The lane's label was removed.",
  label_still_set: 'The label is set (again).',
  not_this_lane: 'The label is not that of the lane that works on the issue.',
  cancelled_by_command: 'A permitted person cancelled the task by a command.',
  closed_by_person: 'A permitted person closed the issue.',
  closed_with_criteria_open: 'The issue was closed with criteria open by somebody who may not decide that.',
  closed_again: 'The issue was closed again after it had been reopened once.',
  closing_anyway: 'Every criterion has its disposition: the close is being written up.',
  is_open: 'The issue is open.',
  reopened_nothing_running: 'Reopened, and nothing runs. Set the label again to start a new task.',
  reopened_task_live: 'Reopened; the task goes on.',
  issue_deleted: 'The issue was deleted.',
  issue_transferred: 'The issue was transferred to another repository.',
  issue_gone: 'The issue or its repository is gone, or the App may not see it any more.',
  approver_not_permitted: 'Who set the label has no triage permission any more.',
  parked_at_claim: 'The look right before the run found a reason to ask a person.',
  installation_removed: 'The App was uninstalled, suspended, or taken off the repository.',
  delivery_refused: 'GitHub refused a change for good. What it was is in the text.',
  no_command: 'The comment holds no command.',
  command: 'A command was carried out.',
} as const;

export type IntakeReason = keyof typeof reasons;

/** The sentence for a reason. */
export function sentenceOf(reason: IntakeReason): string {
  return reasons[reason];
}
