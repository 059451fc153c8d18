import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { noteKey, noteKeys } from '../../../../app/broker/note/index.ts';

const pem = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const [newer, older] = ['n'.repeat(16), 'o'.repeat(16)];

describe('the keys of notes', () => {
  it('are the derived one where no other is given', () => {
    expect(noteKeys({ explicit: [], privateKey: pem })).toEqual([noteKey({ privateKeyPem: pem })]);
  });

  it('sign with the newest, and keep older ones and the derived one valid', () => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    const keys = noteKeys({ explicit: [newer, older], privateKey: pem });
    expect(keys).toEqual([bytes(newer), bytes(older), noteKey({ privateKeyPem: pem })]);
  });

  it('are none where nothing is known', () => {
    expect(noteKeys({ explicit: [], privateKey: null })).toEqual([]);
  });
});
