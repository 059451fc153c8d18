/** One round: a storm on a fresh data folder, quiet after it, and the audit. Its folder goes with it. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorkplace, type Workplace } from '../../lanes/work/workplace.ts';
import { auditRuns, type RunAudit, sentinel } from './audit.ts';
import type { Programs } from './bundle.ts';
import { PatchFiles, plainGit } from './patches.ts';
import { instance } from './programs/life.ts';
import { findRemains, type LedgerTally, type Remains, tallyLedger } from './remains.ts';
import { runStorm, type Storm, type StormOptions, type SupervisorKill, supervisorOf } from './storm.ts';
import { sweeps } from './sweeps.ts';
import { openTruth } from './truth.ts';

export type RoundOptions = Omit<StormOptions, 'dataDir' | 'remote' | 'truth'> & {
  readonly programs: Programs;
};

export interface Round extends Storm, Remains, LedgerTally {
  readonly audits: readonly RunAudit[];
  /** Kills that hit a run with writes which were acknowledged and not yet captured. */
  readonly hits: number;
}

export async function runRound(options: RoundOptions): Promise<Round> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'lanekeeper-torture-')));
  const truth = await openTruth();
  try {
    const [remote, dataDir, scratch] = [
      join(folder, 'remote'),
      join(folder, 'data'),
      join(folder, 'scratch'),
    ];
    await makeRemote(remote);
    await mkdir(scratch);
    const storm = await runStorm({ ...options, remote, dataDir, truth });
    const steady = { now: Date.now, id: randomUUID };
    const place = await openWorkplace({ dataDir, instance, ...steady });
    if (options.sweep === 'ours') await settle(place);
    else await sweeps[options.sweep](place);
    await truth.silent();
    const audits = await auditRuns(dataDir, truth.tasks, new PatchFiles(remote, scratch));
    const remains = { ...(await findRemains(dataDir)), ...(await tallyLedger(dataDir)) };
    return { ...storm, ...remains, audits, hits: storm.kills.filter((kill) => hitWork(kill, audits)).length };
  } finally {
    await truth.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Files that an agent may remove: it does so with every fourth write. */
const mostRemoved = 2;

async function makeRemote(remote: string): Promise<void> {
  for (const name of ['doomed', 'made']) await mkdir(join(remote, name), { recursive: true });
  for (const name of ['given.txt', 'log.txt', 'made/given.txt', sentinel])
    await writeFile(join(remote, name), 'of the base\n');
  for (let n = 0; n < mostRemoved; n += 1)
    await writeFile(join(remote, 'doomed', `${n}.txt`), 'of the base\n');
  await plainGit(remote, ['init', '-q', '-b', 'trunk', '.']);
  await plainGit(remote, ['add', '-A']);
  await plainGit(remote, ['commit', '-q', '-m', 'base']);
}

/** How often it is swept until only quarantine is left; each sweep ends what it can end. */
const settleRounds = 5;

async function settle(place: Workplace): Promise<void> {
  for (let round = 0; round < settleRounds; round += 1) {
    await sweeps.ours(place);
    const { leftovers, leakedPins } = await findRemains(place.dataDir);
    if (leftovers.length + leakedPins.length === 0) return;
  }
}

/** Judged afterwards, by what is on the disk: what a killed process last said may not have arrived. */
function hitWork({ number, atMs }: SupervisorKill, audits: readonly RunAudit[]): boolean {
  const its = audits.filter(({ task }) => supervisorOf(task) === number);
  return its.some(({ captured, writes }) => !captured && writes.some((write) => write.atMs < atMs));
}
