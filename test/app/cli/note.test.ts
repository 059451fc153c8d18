import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderNote } from '../../../app/broker/note/index.ts';
import { builtProgram } from '../../support/programs.ts';
import { criterion, key, parked } from '../broker/note/support.ts';

const body = renderNote(
  parked('criteria_open', { criteria: [criterion('c3f9', 'red \u001B[31m text'), criterion('k2w7', 'two')] }),
  { key, secrets: [] },
);

let folder = '';
let file = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'note-'));
  file = join(folder, 'note.md');
  await writeFile(file, body);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function run(args: string[], input = ''): Promise<{ exitCode?: number; stdout: string; stderr: string }> {
  return execa(process.execPath, [builtProgram('note-program'), ...args], { input, reject: false });
}

describe('lanekeeper note', () => {
  it('reads a note back, says that the signature holds, and what it cannot see', async () => {
    const { exitCode, stdout, stderr } = await run(['key', 'note', file]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('The signature of the hidden block holds');
    expect(stdout).toContain('State: parked (criteria_open)');
    expect(stdout).toContain('Issue: acme/app#12');
    expect(stdout).toContain('  k2w7 met (agent) two');
    expect(stdout).not.toContain('\u001B');
    expect(stderr).toContain('cannot be seen from a file');
  });

  it('prints one JSON value on stdout, and everything else on stderr', async () => {
    const { exitCode, stdout, stderr } = await run(['rotated', 'note', '-', '--json'], body);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      signature: 'holds',
      authorship: 'not_checked',
      note: { v: 1, state: 'parked', reason: 'criteria_open', issue: { number: 12 } },
    });
    expect(stderr).toContain('cannot be seen from a file');
  });

  it('a signature by another key, and a text that is no note, exit with 1', async () => {
    const other = await run(['other', 'note', file, '--json']);
    expect(other.exitCode).toBe(1);
    expect(JSON.parse(other.stdout)).toMatchObject({ ok: false, signature: 'fails', why: 'bad_signature' });
    const plain = await run(['key', 'note', '-', '--json'], 'Hello');
    expect(plain.exitCode).toBe(1);
    expect(JSON.parse(plain.stdout)).toMatchObject({ ok: false, signature: 'not_checked', why: 'no_block' });
    const text = await run(['key', 'note', '-'], 'x'.repeat(2_000_000));
    expect(text).toMatchObject({ exitCode: 1, stdout: '' });
    expect(text.stderr).toContain('longer than a GitHub comment');
  });

  it('bad usage, a missing file, no key and a broken key exit with 2', async () => {
    for (const args of [
      ['key', 'note'],
      ['key', 'note', file, '--frob'],
      ['key', 'note', join(folder, 'missing.md')],
      ['key', 'note', folder],
      ['none', 'note', file],
      ['broken', 'note', file],
    ]) {
      const { exitCode, stdout, stderr } = await run(args);
      expect(exitCode, args.join(' ')).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toMatch(/^error: /);
    }
  });
});
