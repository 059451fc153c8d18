/** Runs on a small disk of its own (argument 1) and says which errors a full disk gives. Argument 2 is the remote. */
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLaneError } from '../../../../lanes/errors.ts';
import { parseNamespace } from '../../../../lanes/namespaces.ts';
import { captureResult } from '../../../../lanes/work/capture.ts';
import { createCopy } from '../../../../lanes/work/copy.ts';
import { syncMirror } from '../../../../lanes/work/mirror.ts';
import { removeCopy } from '../../../../lanes/work/removal.ts';
import { openWorkplace } from '../../../../lanes/work/workplace.ts';

const [dataDir = '', remote = ''] = process.argv.slice(2);
const { signal } = new AbortController();
const place = await openWorkplace({ dataDir, instance: 'w', now: Date.now, id: randomUUID });
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (isLaneError(error) ? error.code : String(error)),
  );

/** Takes everything that is left, to the last byte. */
function fillUp(): void {
  for (let bytes = 4 * 1024 * 1024, at = 0; bytes >= 1; ) {
    try {
      writeFileSync(join(dataDir, `filler-${at++}`), Buffer.alloc(bytes), { flag: 'wx' });
    } catch {
      bytes = Math.floor(bytes / 2);
    }
  }
}
function makeRoom(): void {
  for (let at = 0; at < 200; at++) rmSync(join(dataDir, `filler-${at}`), { force: true });
}

const synced = await syncMirror(place, { repositoryId: 7, cloneUrl: `file://${remote}` }, signal);
if (synced.kind !== 'synced') throw new Error(synced.kind);
const whose = {
  task: 'task0000001',
  namespace: parseNamespace('lane:triage'),
  run: 1,
  fence: 1,
  repositoryId: 7,
};
const request = { ...whose, base: synced.base, branch: synced.branch };
const copy = await createCopy(place, request, signal);
writeFileSync(join(copy.paths.work, 'work.txt'), 'work '.repeat(10_000));
fillUp();
const create = await codeOf(createCopy(place, request, signal));
const capture = await codeOf(captureResult(place, copy, 'none'));
const kept = existsSync(join(copy.paths.work, 'work.txt'));
makeRoom();
const again = await codeOf(captureResult(place, copy, 'none'));
const removed = (await removeCopy(place, copy.lock, copy)).kind;
process.stdout.write(JSON.stringify({ create, capture, kept, again, removed }));
