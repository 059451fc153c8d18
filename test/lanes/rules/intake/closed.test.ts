import { expect, test } from 'vitest';
import { type CloseInput, decideClose } from '../../../../lanes/rules/intake/closed.ts';

const stranger: CloseInput = {
  ours: false,
  open: false,
  state: 'parked',
  byPermittedHand: false,
  gateCloses: false,
  reopenedFor: undefined,
  closedAt: '2026-01-01T00:00:00Z',
};

test.each<[string, Partial<CloseInput>, [string, string]]>([
  ['by somebody who may not decide is undone', {}, ['reopen', 'closed_with_criteria_open']],
  ['by a permitted hand ends the task', { byPermittedHand: true }, ['cancel', 'closed_by_person']],
  ['of our own is ours', { ours: true }, ['ignore', 'own_event']],
  ['without a task is nobody’s business', { state: null }, ['ignore', 'no_task']],
  ['of an issue that is open again is over', { open: true }, ['ignore', 'is_open']],
  ['while the close is being written up changes nothing', { state: 'closing' }, ['ignore', 'closing_anyway']],
  ['with nothing open stands', { gateCloses: true }, ['ignore', 'closing_anyway']],
  [
    'told again is the same close',
    { reopenedFor: '2026-01-01T00:00:00Z' },
    ['reopen', 'closed_with_criteria_open'],
  ],
  ['a second time ends the task', { reopenedFor: '2025-12-31T00:00:00Z' }, ['cancel', 'closed_again']],
])('a close %s', (_title, change, [kind, reason]) => {
  expect(decideClose({ ...stranger, ...change })).toEqual({ kind, reason });
});
