import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importWidgets } from '../src/import.js';

test('names that differ only in case are one widget', () => {
  assert.equal(importWidgets('Bolt;1\nbolt;2').length, 1);
});
