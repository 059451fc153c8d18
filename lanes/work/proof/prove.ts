/** Verifies what a run's result claims, and says what of it counts. */
import { join } from 'node:path';
import type { Receipt } from '../../records/copies.ts';
import type { AgentResult } from '../../records/result.ts';
import { takeBackFailed } from '../../rules/check-lane.ts';
import { type Judgement, judge } from '../../rules/dispositions.ts';
import { mapChecks } from '../../rules/proof.ts';
import type { RunRoom } from '../run-room.ts';
import { checkRunner } from './checks.ts';
import { weighVerdicts } from './evidence.ts';
import { changedPaths, type ProofTree, treeOf } from './tree.ts';

/**
 * Weighs every verdict of a result on the run's own tree, and judges them.
 * @throws LaneError `disk` or `git_failed`, or the signal's reason.
 */
export async function proveRun(room: RunRoom, receipt: Receipt, result: AgentResult): Promise<Judgement> {
  const { copy, deps, lane, lease, input, run, signal } = room;
  const { checks } = lane;
  const { worker } = deps;
  const tree = await proofTree(room, receipt);
  const map = mapChecks(input.criteria, checks, input.proves);
  // Under the copy's lock, and gone with the copy.
  const proofDir = join(copy.paths.ctl, 'proof');
  const weighed = await weighVerdicts(result.dispositions, {
    ...{ tree, checks, map, signal },
    changed: await changedPaths(tree),
    repositoryUrl: repositoryUrl(input.url),
    runCheck: checkRunner({ tree, checks, proofDir, worker, run, signal }),
    lookUp: (query) => deps.host.lookUp(lease, query),
  });
  signal.throwIfAborted();
  const verdicts = lane.agent.kind === 'checks' ? takeBackFailed(weighed) : weighed;
  return judge({ verdicts, criteria: input.criteria, run: lease.run, nowMs: deps.place.now() });
}

/**
 * The captured tree where the patch is part of the result. Else the base: what an agent changed in a lane that does
 * not write reaches nobody, so it cannot make a criterion true.
 */
async function proofTree(room: RunRoom, receipt: Receipt): Promise<ProofTree> {
  const { copy, lane } = room;
  const gitDir = copy.paths.capGit;
  const base = receipt.base;
  const subject = lane.writes
    ? { tree: receipt.tree, name: `the patched tree ${receipt.tree.slice(0, 12)}` }
    : { tree: await treeOf(gitDir, base), name: `commit ${base.slice(0, 12)}` };
  const objectDirs = [copy.borrowedObjects, join(gitDir, 'objects')];
  return { gitDir, objectDirs, base, captured: receipt.tree, subject };
}

/** The web address of the repository, from that of its issue. */
function repositoryUrl(issueUrl: string): string {
  return issueUrl.replace(/\/issues\/\d+\/?$/, '');
}
