import { execFileSync } from 'node:child_process';
import { link, mkdir, mkdtemp, open, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { maxResultBytes, readResult } from '../../../lanes/work/result.ts';

let root: string;
let io: string;
let file: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'lanes-result-'));
  io = join(root, 'io');
  await mkdir(io);
  file = join(io, 'result.json');
});
afterEach(() => rm(root, { recursive: true, force: true }));

const done = { outcome: 'done', summary: 'fine', dispositions: [] };

async function why(): Promise<string> {
  const reading = await readResult(file);
  return reading.kind === 'invalid' ? reading.why : 'valid';
}

describe('a result file', () => {
  test('that fits the contract is read, with defaults filled in', async () => {
    await writeFile(file, JSON.stringify({ outcome: 'needs_person', question: 'Which?' }));
    expect(await readResult(file)).toEqual({
      kind: 'valid',
      result: { outcome: 'needs_person', question: 'Which?', summary: '', dispositions: [] },
    });
  });

  test('with lone surrogates and NUL is read with both replaced', async () => {
    await writeFile(file, '{"outcome":"done","summary":"a\\ud800b\\u0000c"}');
    expect(await readResult(file)).toMatchObject({
      kind: 'valid',
      result: { summary: 'a\u{fffd}b\u{fffd}c' },
    });
  });

  test('with the same field twice or a poisoned prototype does not pass as another object', async () => {
    await writeFile(file, '{"outcome":"done","__proto__":{"summary":"x"}}');
    expect(await why()).toBe('the whole: has a field that the contract does not know');
  });

  test.each([
    ['that is empty', '', 'it is empty'],
    ['that is blank', ' \n', 'it is not JSON in UTF-8'],
    ['that is not JSON', 'done!', 'it is not JSON in UTF-8'],
    ['that is a bare word', '"done"', 'the whole: missing, or of the wrong type'],
    ['that is deeply nested', '['.repeat(500_000), 'it is not JSON in UTF-8'],
    [
      'that is deeply nested and closed',
      `${'['.repeat(400_000)}${']'.repeat(400_000)}`,
      'the whole: missing, or of the wrong type',
    ],
    ['with an unknown word', '{"outcome":"SECRET"}', 'outcome: not one of the allowed words'],
    [
      'with an unknown field',
      '{"outcome":"done","SECRET":1}',
      'the whole: has a field that the contract does not know',
    ],
    [
      'with unknown evidence',
      '{"outcome":"done","dispositions":[{"criterion":"aa","disposition":"met","evidence":[{"kind":"SECRET"}]}]}',
      'dispositions.0.evidence.0.kind: of no known kind',
    ],
  ])('%s is invalid, and nothing of it is quoted', async (_fact, content, expected) => {
    await writeFile(file, content);
    expect(await why()).toBe(expected);
  });

  test('that is not UTF-8 is invalid', async () => {
    await writeFile(file, Buffer.from([0x22, 0xff, 0x22]));
    expect(await why()).toBe('it is not JSON in UTF-8');
  });

  test('of 100 MB is invalid and is not read', async () => {
    const handle = await open(file, 'w');
    await handle.truncate(100 * 1024 * 1024);
    await handle.close();
    const before = process.memoryUsage().rss;
    expect(await why()).toBe(`it is larger than ${maxResultBytes} bytes`);
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
  });

  test('that is a FIFO is invalid, at once', async () => {
    execFileSync('mkfifo', [file]);
    expect(await why()).toBe('it is not an ordinary file');
  });

  test('that is a symbolic link is invalid, also to a good result', async () => {
    await writeFile(join(root, 'other.json'), JSON.stringify(done));
    await symlink(join(root, 'other.json'), file);
    expect(await why()).toBe('it is a symbolic link');
  });

  test('that is a hard link is invalid', async () => {
    await writeFile(join(root, 'other.json'), JSON.stringify(done));
    await link(join(root, 'other.json'), file);
    expect(await why()).toBe('it is a hard link to another file');
  });

  test('in a folder that was replaced by a link is invalid', async () => {
    await rename(io, join(root, 'moved'));
    await writeFile(join(root, 'moved', 'result.json'), JSON.stringify(done));
    await symlink(join(root, 'moved'), io);
    expect(await why()).toBe('its folder was replaced by a link');
  });

  test('that is a directory, a device or a socket is invalid', async () => {
    await mkdir(file);
    expect(await why()).toBe('it is not an ordinary file');
    expect(await readResult('/dev/zero')).toEqual({ kind: 'invalid', why: 'it is not an ordinary file' });
  });

  test('that was not written is invalid', async () => {
    expect(await why()).toBe('the agent wrote none');
    await rm(io, { recursive: true });
    expect(await why()).toBe('the agent wrote none');
  });

  test('with too many verdicts is invalid', async () => {
    const dispositions = Array.from({ length: 401 }, () => ({ criterion: 'aa', disposition: 'met' }));
    await writeFile(file, JSON.stringify({ ...done, dispositions }));
    expect(await why()).toBe('dispositions: too long');
  });
});
