import { describe, expect, it } from 'vitest';
import { type Box, ticksBetween, ticksThatStand } from '../../../lanes/rules/attest.ts';

const box = (id: string, checked: boolean, more: Partial<Box> = {}): Box => ({
  id,
  checked,
  checkbox: true,
  removed: false,
  ...more,
});

describe('what an edit did to the boxes', () => {
  it('tells which were ticked and which were unticked', () => {
    const before = [box('aa', false), box('bb', true), box('cc', false), box('dd', true)];
    const after = [box('dd', true), box('cc', false), box('bb', false), box('aa', true)];
    expect(ticksBetween(before, after)).toEqual({ ticked: ['aa'], unticked: ['bb'] });
  });

  it('a criterion that appears, ticked or not, was not changed by this edit', () => {
    expect(ticksBetween([], [box('aa', false)])).toEqual({ ticked: [], unticked: [] });
    expect(ticksBetween([], [box('aa', true)])).toEqual({ ticked: [], unticked: [] });
    expect(ticksBetween([box('aa', false, { removed: true })], [box('aa', true)])).toEqual({
      ticked: [],
      unticked: [],
    });
  });

  it('a criterion that was no box, or whose line was removed, says nothing', () => {
    const plain = box('aa', false, { checkbox: false });
    expect(ticksBetween([plain], [box('aa', true)])).toEqual({ ticked: [], unticked: [] });
    expect(ticksBetween([box('aa', true)], [box('aa', false, { removed: true })])).toEqual({
      ticked: [],
      unticked: [],
    });
    expect(ticksBetween([box('aa', true)], [])).toEqual({ ticked: [], unticked: [] });
  });
});

it('a tick stands while the words behind the box and its state do', () => {
  const box = (text: string, checked: boolean, detail?: string[]) => ({
    ...{ id: 'aa', checkbox: true, removed: false, text, checked },
    ...(detail === undefined ? {} : { detail }),
  });
  const ticks = { ticked: ['aa'], unticked: [] };
  const then = [box('The door opens', true, ['quietly'])];
  expect(ticksThatStand(ticks, then, then)).toEqual(ticks);
  const none = { ticked: [], unticked: [] };
  expect(ticksThatStand(ticks, then, [box('The door opens wide', true, ['quietly'])])).toEqual(none);
  expect(ticksThatStand(ticks, then, [box('The door opens', true, ['loudly'])])).toEqual(none);
  expect(ticksThatStand(ticks, then, [box('The door opens', false, ['quietly'])])).toEqual(none);
  expect(ticksThatStand(ticks, then, [])).toEqual(none);
});
