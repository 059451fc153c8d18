import { expect, test } from 'vitest';
import { decideEdit, type EditInput } from '../../../../lanes/rules/intake/edited.ts';

const usable = { kind: 'usable' } as const;
const none = { kind: 'park', reason: 'no_criteria', detail: '' } as const;
const unreadable = { kind: 'park', reason: 'unreadable_body', detail: 'too_deep' } as const;
const queued: EditInput = {
  state: 'queued',
  reason: undefined,
  permitted: true,
  verdict: usable,
  newest: true,
  fromApproved: true,
};
const parked: EditInput = { ...queued, state: 'parked', reason: 'no_criteria' };

test.each<[string, EditInput, [string, boolean, string]]>([
  ['a permitted edit of an approved body is approved', queued, ['amend', true, 'amended']],
  [
    'a permitted edit of a body that nobody approved is not',
    { ...queued, fromApproved: false },
    ['amend', false, 'amended'],
  ],
  [
    'anybody else’s edit only changes the criteria',
    { ...queued, permitted: false },
    ['amend', false, 'amended_unapproved'],
  ],
  [
    'an edit that makes the body unreadable changes nothing yet',
    { ...queued, verdict: unreadable },
    ['keep', false, 'unreadable_body'],
  ],
  ['criteria added by a permitted person let the task go on', parked, ['resume', true, 'criteria_added']],
  [
    'criteria added by anybody else do not',
    { ...parked, permitted: false },
    ['amend', false, 'amended_unapproved'],
  ],
  [
    'an edit without criteria leaves it parked',
    { ...parked, verdict: none },
    ['amend', false, 'still_parked'],
  ],
  [
    'an edit that was edited over decides nothing',
    { ...parked, newest: false },
    ['amend', false, 'edited_again'],
  ],
  [
    'a body that became readable lets the task go on',
    { ...parked, reason: 'unreadable_body' },
    ['resume', true, 'criteria_added'],
  ],
  [
    'a task that a person parked does not go on by an edit',
    { ...parked, reason: 'held' },
    ['amend', true, 'amended'],
  ],
  [
    'a body that was edited after the approval is not approved by the next edit',
    { ...parked, reason: 'edited_after_approval', fromApproved: false },
    ['amend', false, 'amended'],
  ],
])('%s', (_title, input, [act, approves, reason]) => {
  expect(decideEdit(input)).toEqual({ act, approves, reason });
});
