import { describe, expect, test } from 'vitest';
import { checkSchema } from '../../../lanes/records/config.ts';
import type { Criterion } from '../../../lanes/records/criteria.ts';
import { mapChecks, readEvidenceUrl, touchedProtected } from '../../../lanes/rules/proof.ts';

function criterion(id: string, text: string, label?: string): Criterion {
  return {
    id,
    revision: 1,
    text,
    checked: false,
    checkbox: true,
    depth: 0,
    removed: false,
    ...(label === undefined ? {} : { label }),
  };
}

const criteria = [
  criterion('aa', 'The tests pass', 'AC-1'),
  criterion('bb', 'As in AC-1, **lint** and `types` are clean', 'AC-10'),
  criterion('cc', 'すべてのテストが通る'),
];

function proved(proves: string[], repository: Record<string, string[]> = {}): string[] {
  const map = mapChecks(criteria, { unit: checkSchema.parse({ run: ['true'], proves }) }, repository);
  return criteria.flatMap(({ id }) => (map.get(id)?.includes('unit') ? [id] : []));
}

describe('which check proves which criterion', () => {
  test.each([
    ['a label names its criterion alone', ['AC-1'], ['aa']],
    ['a label does not reach a longer one', ['ac-10'], ['bb']],
    ['a part of the text names it, whatever its case, spacing and marks', ['Lint  and types'], ['bb']],
    ['a part of the text that is cut out of a word names nothing', ['test'], []],
    ['a part of a text without spaces names it', ['テスト'], ['cc']],
    ['a star names all', ['*'], ['aa', 'bb', 'cc']],
    ['a blank entry names nothing', [' ', '``', '**'], []],
    ['an entry that nothing has names nothing', ['AC-2', 'no such words'], []],
  ])('%s', (_fact, proves, expected) => {
    expect(proved(proves)).toEqual(expected);
  });

  test("the repository's file adds to a check of the operator's", () => {
    expect(proved(['AC-1'], { unit: ['AC-10'] })).toEqual(['aa', 'bb']);
  });

  test('a long text of look-alikes is read in linear time', () => {
    const checks = { unit: checkSchema.parse({ run: ['true'], proves: ['a'] }) };
    const startedMs = performance.now();
    expect(mapChecks([criterion('dd', 'a'.repeat(65_536))], checks, {}).get('dd')).toEqual([]);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  test("the repository's file cannot make a check", () => {
    expect(proved([], { other: ['*'], toString: ['*'] })).toEqual([]);
  });
});

describe('what a check is protected by', () => {
  test.each([
    [
      'a file at the root is protected by its name',
      ['package.json'],
      ['src/a.ts', 'package.json'],
      'package.json',
    ],
    ['a name protects the root only', ['package.json'], ['sub/package.json'], null],
    ['a glob reaches every depth', ['test/**'], ['test/a/b.ts'], 'test/a/b.ts'],
    ['a hidden file is reached', ['**'], ['.github/workflows/ci.yml'], '.github/workflows/ci.yml'],
    ['a folder protects what it holds', ['test/', './spec'], ['spec/a.ts'], 'spec/a.ts'],
    ['a folder that became a link or file is a change of itself', ['test/**'], ['test'], 'test'],
    ['a line end in a path hides nothing', ['test/**', '*.json'], ['test/a\n.ts'], 'test/a\n.ts'],
    ['a line end at the root hides nothing', ['*.json'], ['a\u2028b.json'], 'a\u2028b.json'],
    ['nothing protected, nothing touched', [], ['a'], null],
    ['a look-alike folder is not protected', ['test/**'], ['tests/a.ts'], null],
    ['a leading slash is the root', ['/package.json'], ['package.json'], 'package.json'],
  ])('%s', (_fact, protect, changed, expected) => {
    expect(touchedProtected(changed, protect)).toBe(expected);
  });
});

describe('what an address stands for', () => {
  const home = 'https://git.example/base/acme/shop';
  test.each([
    ['/issues/12', { kind: 'issue', number: 12 }],
    ['/issues/12#issuecomment-5', { kind: 'issue', number: 12 }],
    ['/pull/7/files', { kind: 'pull', number: 7 }],
    ['/commit/ABCDEF1', { kind: 'commit', sha: 'abcdef1' }],
    ['/actions/runs/99/job/1', { kind: 'run', id: 99 }],
  ])('%s of this repository is known', (path, query) => {
    expect(readEvidenceUrl(`${home}${path}`, home)).toEqual({ known: true, query });
    expect(readEvidenceUrl(`https://git.example/base/ACME/Shop${path}`, home)).toEqual({
      known: true,
      query,
    });
  });

  test.each([
    'https://git.example/base/acme/shop2/issues/1',
    'https://git.example/base/acme/issues/1',
    'https://git.example.evil.test/base/acme/shop/issues/1',
    'http://git.example/base/acme/shop/issues/1',
    'https://git.example:8443/base/acme/shop/issues/1',
    'https://user:secret@git.example/base/acme/shop/issues/1',
    'https://git.example/base/acme/shop/issues/0',
    'https://git.example/base/acme/shop/issues/1e3',
    'https://git.example/base/acme/shop/issues/99999999999999999999',
    'https://git.example/base/acme/shop/../other/issues/1',
    'https://git.example/base/acme/shop/blob/main/a.ts',
    'https://git.example/base/acme/shop/commit/xyz',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'not an address',
    '',
  ])('%s is not known', (url) => {
    expect(readEvidenceUrl(url, home).known).toBe(false);
  });

  test('a repository without a web address has none', () => {
    expect(readEvidenceUrl(`${home}/issues/1`, 'file:///srv/acme/shop').known).toBe(false);
  });
});
