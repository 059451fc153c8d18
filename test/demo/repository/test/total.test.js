import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/price.js';

test('the total has two decimals', () => assert.equal(total([{ price: 0.1, count: 3 }]), '0.30'));
test('an empty cart costs 0.00', () => assert.equal(total([]), '0.00'));
