/** What the tests of capture share: a base, a capture after some work, and the proof by plain git. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { captureResult } from '../../../lanes/work/capture.ts';
import type { Copy } from '../../../lanes/work/copy.ts';
import { outboxPaths } from '../../../lanes/work/outbox.ts';
import type { Workplace } from '../../../lanes/work/workplace.ts';
import { makeCopy, makePlace, makeRemote, sh, temporaryFolder } from './support.ts';

export const base = {
  'keep.txt': 'same\n',
  'change.txt': 'one\ntwo\nthree\n',
  'remove.txt': 'going\n',
  'rename.txt': 'moving, with enough text to be seen as a rename\n',
  'tool.sh': '#!/bin/sh\n',
  'image.bin': Buffer.from([0, 1, 2, 255, 254, 0, 10]),
  'link-me': 'x',
};

/** What a person gets who applies the patch to the base with plain git. */
export async function applied(place: Workplace, remote: string, copy: Copy): Promise<string> {
  const clone = join(temporaryFolder(), 'clone');
  sh('/', 'git', 'clone', '-q', remote, clone);
  const patch = outboxPaths(place, copy.id).patch;
  if (readFileSync(patch).length > 0) sh(clone, 'git', 'apply', '--index', '--whitespace=nowarn', patch);
  return sh(clone, 'git', 'write-tree');
}

export async function captureAfter(
  work: (dir: string) => void,
  files: Record<string, string | Buffer> = base,
) {
  const place = await makePlace();
  const remote = makeRemote(files);
  const copy = await makeCopy(place, remote);
  work(copy.paths.work);
  const receipt = await captureResult(place, copy, 'none');
  return { place, remote, copy, receipt, tree: await applied(place, remote, copy) };
}
