/** Many live copies at little cost: their folders as an owner leaves them, their locks held by a few small processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { copyRecordSchema } from '../../lanes/records/copies.ts';
import { copyPaths } from '../../lanes/work/copy.ts';
import type { Workplace } from '../../lanes/work/workplace.ts';

/** Below the usual limit of 1,024 open files. */
const locksEach = 500;

/** Perl has flock built in, and is on every Debian: a helper for each of 10,000 locks would take a minute. */
const HOLD =
  'for (@ARGV) { open my $file, "<", $_ or die; flock $file, 6 or die; push @held, $file } $| = 1; print "held\\n"; <STDIN>';

/** Makes `count` copies and locks them. Answers with the processes that hold the locks. */
export async function holdCopies(place: Workplace, count: number): Promise<ChildProcess[]> {
  const locks: string[] = [];
  for (let n = 0; n < count; n += 1) locks.push(await makeCopyFolder(place));
  const holders: ChildProcess[] = [];
  for (let from = 0; from < locks.length; from += locksEach) {
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    const holder = spawn('perl', ['-e', HOLD, ...locks.slice(from, from + locksEach)], {
      stdio: [...stdio],
    });
    holders.push(holder);
    const [said] = (await Promise.race([
      once(holder.stdout ?? holder, 'data'),
      once(holder, 'exit'),
    ])) as unknown[];
    if (String(said) !== 'held\n')
      throw new Error('the locks of the benchmark could not be taken; is perl installed?');
  }
  return holders;
}

async function makeCopyFolder(place: Workplace): Promise<string> {
  const id = place.id();
  const { ctl, record, ownerLock } = copyPaths(place, id);
  const fixed = { v: 1, id, task: 'benchmark1', namespace: 'lane:bench', run: 1, fence: 1, repositoryId: 7 };
  const content = copyRecordSchema.parse({
    ...{ ...fixed, base: '0'.repeat(40), branch: 'main', state: 'running', owner: place.owner, agent: null },
    ...{ fsType: place.fsType, at: place.now() },
  });
  await mkdir(ctl);
  await writeFile(record, JSON.stringify(content));
  await writeFile(ownerLock, '');
  return ownerLock;
}
