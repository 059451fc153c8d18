import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../demo/lanekeeper.ts';

const fixture = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/criteria/${name}.md`, import.meta.url));

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lanekeeper-criteria-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function lanekeeper(...args: string[]) {
  return execa(process.execPath, commandLine(['criteria', ...args]), { reject: false });
}

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

describe('--json', () => {
  test('one file prints one object with the fields of the cases', async () => {
    const { stdout, stderr, exitCode } = await lanekeeper(
      fixture('172-no-section-but-tasks-heading'),
      '--json',
    );
    expect(JSON.parse(stdout)).toEqual({
      criteria: [],
      section: null,
      fallback_tasklist: ['Measure the pier', 'Draw the pier'],
    });
    expect([stderr, exitCode]).toEqual(['', 0]);
  });

  test('several files print an array in their order', async () => {
    const { stdout } = await lanekeeper(
      fixture('152-issue-form-no-response'),
      fixture('166-external-criteria-link'),
      '--json',
    );
    expect(JSON.parse(stdout)).toMatchObject([
      { section: 'Acceptance criteria', placeholders: ['No response'] },
      { secondary: [{ section: 'Definition of Done' }], external: [expect.stringContaining('US-02')] },
    ]);
  });

  test('an edit prints ids, removed and stale', async () => {
    const before = fixture('187-edit-a-before');
    const { stdout } = await lanekeeper(
      fixture('189-edit-a-reordered-inserted-removed'),
      '--edit-of',
      before,
      '--json',
    );
    expect(JSON.parse(stdout)).toMatchObject({
      ids: ['k4', 'k1', 'NEW-1', 'k3'],
      removed: ['k2'],
      stale: [],
    });
  });

  test('bytes that are no UTF-8 and carriage returns are read', async () => {
    const path = await file('bytes.md', Buffer.from('## AC\r\n- [x] door \xff opens\r\n', 'latin1'));
    const { stdout } = await lanekeeper(path, '--json');
    expect(JSON.parse(stdout).criteria).toMatchObject([{ text: 'door \ufffd opens', checked: true }]);
  });

  test('an unreadable body says why, beside those that can be read, and exits 1', async () => {
    const path = await file('deep.md', '> '.repeat(30_000));
    const { stdout, stderr, exitCode } = await lanekeeper(path, fixture('001-h2-task-list'), '--json');
    expect(JSON.parse(stdout)).toMatchObject([
      { criteria: [], section: null, unreadable: 'too_deep' },
      { criteria: [{}, {}, {}] },
    ]);
    expect(stderr).toContain('deep.md');
    expect(exitCode).toBe(1);
  });
});

test('without --json people get a list', async () => {
  const { stdout, exitCode } = await lanekeeper(fixture('043-nested-checkboxes'));
  expect(stdout).toBe(
    'Section: Acceptance criteria\n  [ ] Search works offline\n    [x] Titles are indexed\n    [ ] Authors are indexed\n  [ ] Search has a clear button',
  );
  expect(exitCode).toBe(0);
});

describe('bad usage exits 2 and prints nothing on stdout', () => {
  test.each([
    ['a missing file', ['/nonexistent/body.md', '--json'], 'cannot read /nonexistent/body.md'],
    ['no file', [], "missing required argument 'file'"],
    ['an unknown option', ['--nope'], "unknown option '--nope'"],
    ['an edit of two files', ['a.md', 'b.md', '--edit-of', 'c.md'], '--edit-of compares exactly one file'],
  ])('%s', async (_, args, message) => {
    const { stdout, stderr, exitCode } = await lanekeeper(...args);
    expect([stdout, exitCode]).toEqual(['', 2]);
    expect(stderr).toContain(message);
  });
});
