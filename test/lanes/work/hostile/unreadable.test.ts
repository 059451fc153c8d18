/** Files that will not be read. For root there are none: this file's process becomes an ordinary user, for good. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { captureResult } from '../../../../lanes/work/capture.ts';
import { applied } from '../capture-support.ts';
import { makeCopy, makePlace, makeRemote, put } from '../support.ts';

const NOBODY = 65_534;

beforeAll(() => {
  if (process.getuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
});

it('files that cannot be read are named, and the rest is captured', { timeout: 120_000 }, async () => {
  const place = await makePlace();
  const remote = makeRemote({ tracked: 't', 'folder/file': 'f', 'closed/file': 'c', 'listed/file': 'l' });
  const copy = await makeCopy(place, remote);
  const dir = copy.paths.work;
  put(dir, 'tracked', 'changed', 0o000);
  put(dir, 'untracked', 'new', 0o000);
  put(dir, 'good', 'g');
  put(dir, 'new-folder/file', 'x');
  put(dir, 'listed/file', 'changed');
  for (const folder of ['new-folder', 'closed']) chmodSync(join(dir, folder), 0o000);
  chmodSync(join(dir, 'listed'), 0o444);
  const receipt = await captureResult(place, copy, 'none');
  for (const folder of ['new-folder', 'closed', 'listed']) chmodSync(join(dir, folder), 0o755);
  const unread = receipt.missing.filter(({ why }) => why === 'not_readable').map(({ path }) => path);
  expect(new Set(unread)).toEqual(new Set(['tracked', 'untracked', 'new-folder', 'closed', 'listed/file']));
  expect(receipt).toMatchObject({ partial: true });
  expect(await applied(place, remote, copy)).toBe(receipt.tree);
});
