import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact, redactAll } from '../../../../app/broker/note/redact.ts';
import { newPrivateKey } from './support.ts';

const word = 'Ab1'.repeat(14);

describe('secrets in text', () => {
  it.each([
    ['an installation token', `ghs_${'a1B2'.repeat(9)}`],
    ['a long installation token', `ghs_${'a1.B_2'.repeat(20)}`],
    ['a personal token', `ghp_${word}`],
    ['an OAuth token', `gho_${word}`],
    ['a user token', `ghu_${word}`],
    ['a refresh token', `ghr_${word}`],
    ['a fine-grained token', `github_pat_11ABCDEFG0_${word}`],
    ['a token that was cut off', `ghs_${'a1B2'.repeat(4)}`],
    ['a JSON web token', `eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjMifQ.${word}`],
    ['an AWS key id', 'AKIAIOSFODNN7EXAMPLE'],
    ['a Google key', `AIza${word.slice(0, 35)}`],
    ['a Slack token', 'xoxb-123456789012-abcdefABCDEF'],
    ['a model provider key', `sk-ant-api03-${word}`],
    ['an npm token', `npm_${word}`],
    ['a GitLab token', 'glpat-abcdefghij0123456789'],
  ])('%s is masked', (_, token) => {
    expect(redact(`x ${token} y`, [])).toBe('x [redacted] y');
    expect(redact(`(${token})`, [])).not.toContain(token.slice(4));
  });

  it('a token split by invisible characters is masked', () => {
    const token = `ghs_${'a1B2'.repeat(9)}`;
    expect(redact(`${token.slice(0, 8)}\u200B\u{E0041}${token.slice(8)}`, [])).toBe('[redacted]');
  });

  it('headers, addresses and dumps of an environment keep the name and lose the value', () => {
    expect(redact('Authorization: Bearer abc.def', [])).toBe('Authorization: Bearer [redacted]');
    expect(redact('authorization: basic dXNlcjpwYXNz', [])).toBe('authorization: basic [redacted]');
    expect(redact('"Authorization": "token abc"', [])).toBe('"Authorization": "token [redacted]"');
    expect(redact('git clone https://x-access-token:abc123@github.com/a/b', [])).toBe(
      'git clone https://[redacted]@github.com/a/b',
    );
    expect(redact(`https://${word}@host/x`, [])).toBe('https://[redacted]@host/x');
    expect(redact('WEBHOOK_SECRET=hunter2hunter2', [])).toBe('WEBHOOK_SECRET=[redacted]');
    expect(redact('{"client_secret": "hunter2hunter2"}', [])).toBe('{"client_secret": "[redacted]"}');
  });

  it('a private key is masked, whole, cut off, or with escaped line ends', () => {
    const pem = newPrivateKey().trim();
    expect(redact(`a\n${pem}\nb`, [])).toBe('a\n[redacted]\nb');
    expect(redact(`a\n${pem.slice(0, 300)}`, [])).toBe('a\n[redacted]');
    expect(redact(`a b\n${pem.slice(300)}\nc`, [])).toBe('a b\n[redacted]\nc');
    expect(redact(`a ${pem.replaceAll('\n', '\\n')} b`, [])).toBe('a [redacted] b');
  });

  it('our own secrets are masked, and each line of a key of ours', () => {
    const pem = newPrivateKey();
    const line = pem.split('\n')[3] ?? '';
    expect(redact(`see ${line} and s3cret-word`, [pem, 's3cret-word'])).toBe('see [redacted] and [redacted]');
  });

  it('a secret too short to be one takes no ordinary words away', () => {
    expect(redact('an apple a day', ['a', '', 'day'])).toBe('an apple a day');
  });

  it('ordinary prose stays as it is', () => {
    for (const text of [
      'The next token: identifier. The password: it must be long.',
      'See https://github.com/a/b/pull/12 and mail a@example.com.',
      'A bearer of news. Basic authorization is off. risk-free sk-tools',
      `commit ${'a1b2c3d4'.repeat(5)} of ghs_ and github_pat_`,
    ]) {
      expect(redact(text, [])).toBe(text);
    }
  });

  it('every string of a record is redacted, its other values stay', () => {
    const record = { a: 1, b: [`ghp_${word}`, null, { c: 's3cret-word', d: undefined }], e: true };
    expect(redactAll(record, ['s3cret-word'])).toEqual({
      a: 1,
      b: ['[redacted]', null, { c: '[redacted]', d: undefined }],
      e: true,
    });
  });

  it('a second pass changes nothing', () => {
    const part = fc.constantFrom(
      'ghs_',
      word,
      'Authorization:',
      'Bearer ',
      '://',
      'a:b@',
      ' ',
      '\n',
      'SECRET=',
      '-----BEGIN PRIVATE KEY-----',
      '"',
      "'",
      's3cret-word',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const once = redact(parts.join(''), ['s3cret-word']);
        expect(redact(once, ['s3cret-word'])).toBe(once);
        expect(once).not.toContain('s3cret-word');
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes hostile repetitions of 200,000 characters in linear time', () => {
    for (const unit of [
      'ghs_',
      'eyJaaaaaaaa.',
      '://',
      '://a:',
      '-----BEGIN PRIVATE KEY-----',
      'SECRET_',
      'authorization:',
      'A',
      'xoxa-',
    ]) {
      const started = performance.now();
      redact(unit.repeat(Math.ceil(200_000 / unit.length)), ['s3cret-word']);
      // A quadratic pattern takes minutes here; the bound only has to tell the two apart.
      expect(performance.now() - started).toBeLessThan(5_000);
    }
  });
});
