/**
 * The label scan: at start and every 60 s it looks at the open issues that have a lane's label and no live task, and
 * finds what no webhook told. It authorises the last labeller. Lists that did not change cost no request of the limit.
 */
import type { InstalledRepository } from '../github/api.ts';
import { failureOf } from '../github/failure.ts';
import type { ListedIssue } from '../github/listing.ts';
import { labelSet } from '../hooks/desk/admission.ts';
import { type LaneHere, labelOf, lanesHere } from '../hooks/desk/lanes.ts';
import type { Desk } from '../hooks/desk/port.ts';
import { recordOf, updateRecord } from '../hooks/desk/records.ts';
import { type Loop, makeLoop } from '../loop.ts';
import type { LabelKeeper } from './labels.ts';

export interface Scan extends Loop {
  runOnce(): Promise<void>;
}

export interface ScanDeps {
  readonly desk: Desk;
  readonly labels: Pick<LabelKeeper, 'wantOnce'>;
}

const everyMs = 60_000;
const cause = { source: 'scan', event: 'label_found' } as const;

/** Looks at one issue that has the label. What was decided about already is left alone. */
async function lookAt(desk: Desk, here: LaneHere, listed: ListedIssue): Promise<void> {
  const record = await recordOf(desk, listed.ref);
  // The keeper sees to pointers, also to those whose task has ended.
  if (record?.pointer) return;
  const lane = here.lane.name;
  const seen = record?.labelsSeen?.[lane];
  if (seen !== undefined && seen >= listed.updatedAt) return;
  const label = labelOf(here);
  const labelling = await desk.github.lastLabelling(listed.ref, label);
  if (!labelling) return;
  if (seen !== undefined && labelling.at <= seen) {
    // Something else changed on the issue: remember, so that the timeline is not read again for it.
    await updateRecord(desk, listed.ref, (before) => ({
      ...before,
      labelsSeen: { ...before.labelsSeen, [lane]: listed.updatedAt },
    }));
    return;
  }
  const { login, id, type } = labelling.by;
  const sender = { login, id, bot: type === 'Bot', ours: login === `${desk.app.slug}[bot]` };
  await labelSet(desk, { ref: listed.ref, label, sender, cause, pullRequest: false, archived: false });
}

async function scanRepository(desk: Desk, repository: InstalledRepository): Promise<void> {
  for (const here of await lanesHere(desk, repository)) {
    if (here.narrowed === null) continue;
    for (const listed of await desk.github.labelled(repository, labelOf(here))) {
      await lookAt(desk, here, listed);
    }
  }
}

export function makeScan({ desk, labels }: ScanDeps): Scan {
  /** Answers false where a limit says to stop. */
  const guarded = async (what: string, work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      const { kind, message } = failureOf(error, desk.now());
      desk.log('warn', 'the label scan could not look', { what, error: message });
      return kind !== 'limited';
    }
  };

  const scanInstallation = async (installation: number): Promise<void> => {
    for await (const page of desk.github.repositories(installation)) {
      for (const repository of page) {
        if (repository.archived || !desk.listed(repository.repository)) continue;
        labels.wantOnce(repository);
        if (!(await guarded(repository.repository, () => scanRepository(desk, repository)))) return;
      }
    }
  };

  const runOnce = async (): Promise<void> => {
    for (const installation of await desk.github.installations()) {
      await guarded(`installation ${installation}`, () => scanInstallation(installation));
    }
  };

  const onError = (error: unknown): void =>
    desk.log('error', 'the label scan failed', { error: String(error) });
  return { runOnce, ...makeLoop(runOnce, everyMs, onError) };
}
