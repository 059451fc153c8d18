import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importWidgets } from '../src/import.js';

test('of two widgets with one name the later wins', () => {
  assert.deepEqual(importWidgets('a;1\na;2'), [{ name: 'a', price: 2 }]);
});
