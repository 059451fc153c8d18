import fc from 'fast-check';
import { expect, it } from 'vitest';
import { packPayload, unpackPayload } from '../../../lanes/store/packed.ts';

/** As Redis holds it. */
const stored = (payload: string) => Object.fromEntries([packPayload(payload)]);

it('a payload comes back as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 5_000 }), (payload) => {
      expect(unpackPayload(stored(payload))).toBe(payload);
    }),
  );
});

it.each([1024 * 1024, 1024 * 1024 + 1, 25_000_000])('one of %i characters comes back as it was', (length) => {
  const payload = '€'.repeat(length);
  expect(unpackPayload(stored(payload)) === payload).toBe(true);
});

it('one that is far too large to deflate in passing stays as it is', () => {
  expect(packPayload('x'.repeat(1024 * 1024))[0]).toBe('deflated');
  expect(packPayload('x'.repeat(1024 * 1024 + 1))[0]).toBe('payload');
});

it('an entry without one has none, and one that was tampered with is refused', () => {
  expect(unpackPayload({ guid: 'g' })).toBeUndefined();
  expect(() => unpackPayload({ deflated: 'bm90IGRlZmxhdGVk' })).toThrow();
});
