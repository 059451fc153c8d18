import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importWidgets } from '../src/import.js';

test('blank lines are skipped', () => assert.deepEqual(importWidgets('a;1\n\nb;2\n').length, 2));
