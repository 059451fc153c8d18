/** Creating the lanes' labels where they are missing, beside the hooks: an installation may have many repositories. */
import type { RepositoryRef } from '../github/api.ts';
import { failureOf } from '../github/failure.ts';
import { labelOf, lanesHere } from '../hooks/desk/lanes.ts';
import type { Desk } from '../hooks/desk/port.ts';
import type { LabelWishes } from '../hooks/installation.ts';
import { type Loop, makeLoop } from '../loop.ts';

export interface LabelKeeper extends LabelWishes, Loop {
  /** Asks for the labels of a repository that was not looked at since the start. */
  wantOnce(repository: RepositoryRef): void;
  /** Creates what is missing; what a limit stopped stays for the next time. */
  runOnce(): Promise<void>;
}

export interface LabelKeeperDeps {
  readonly desk: Desk;
  readonly sleep: (ms: number) => Promise<void>;
}

const everyMs = 60_000;
const betweenWritesMs = 1_000;

export function makeLabelKeeper({ desk, sleep }: LabelKeeperDeps): LabelKeeper {
  const wanted = new Map<number, RepositoryRef>();
  const looked = new Set<number>();

  const create = async (repository: RepositoryRef): Promise<void> => {
    const here = (await lanesHere(desk, repository)).filter(({ narrowed }) => narrowed !== null);
    const missing = await desk.github.missingLabels(repository, here.map(labelOf));
    for (const name of missing) {
      const lane = here.find((one) => labelOf(one) === name)?.lane.name ?? name;
      await desk.github.createLabel(repository, name, `Hands the issue to the lane "${lane}" of Lanekeeper`);
      await sleep(betweenWritesMs);
    }
  };

  const runOnce = async (): Promise<void> => {
    for (const repository of [...wanted.values()]) {
      try {
        if (desk.listed(repository.repository)) await create(repository);
        wanted.delete(repository.repositoryId);
      } catch (error) {
        const { kind, message } = failureOf(error, desk.now());
        const particulars = { repository: repository.repository, error: message };
        desk.log('warn', 'the labels of a repository could not be created', particulars);
        if (kind === 'limited') return;
        if (kind !== 'doubt') wanted.delete(repository.repositoryId);
      }
    }
  };

  const onError = (error: unknown): void =>
    desk.log('error', 'creating labels failed', { error: String(error) });
  const loop = makeLoop(runOnce, everyMs, onError);

  return {
    runOnce,
    ...loop,
    wantOnce(repository) {
      if (looked.has(repository.repositoryId)) return;
      looked.add(repository.repositoryId);
      wanted.set(repository.repositoryId, repository);
      loop.kick();
    },
    want(installation, repositories) {
      for (const { id, full_name } of repositories) {
        looked.add(id);
        wanted.set(id, { installation, repositoryId: id, repository: full_name });
      }
      loop.kick();
    },
  };
}
