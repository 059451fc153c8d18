/**
 * The keeper: at start, every 15 s and whenever a lease may have run out, it ends leases that did and gives queued tasks
 * their wake-ups, takes from workers what is not theirs any more, finishes admissions that stopped half-way, and frees
 * issues whose task has ended.
 */
import { type Engine, type IssueRecord, intakeNamespace, type Namespace } from '../../lanes/index.ts';
import { release } from '../hooks/desk/ending.ts';
import type { Desk } from '../hooks/desk/port.ts';
import { liveTask } from '../hooks/desk/records.ts';
import { type Loop, makeLoop } from '../loop.ts';
import { enforceEntitlement } from './entitlement.ts';

export interface KeeperDeps {
  readonly desk: Desk;
  readonly engine: Pick<Engine, 'repair' | 'list' | 'park' | 'takeBack'>;
  /** The namespaces that hold tasks. */
  readonly namespaces: readonly Namespace[];
  /** Worker identity -> what it may consume. */
  readonly grants: ReadonlyMap<string, readonly Namespace[]>;
}

export interface Keeper extends Loop {
  runOnce(): Promise<void>;
}

/** No longer than a lease lasts: so each one is seen before it ends, and a run that died goes on at that moment. */
const everyMs = 15_000;
/** A lease is over once Redis's clock is past its end; ours only estimates that clock. */
const afterEndMs = 100;

export function makeKeeper(deps: KeeperDeps): Keeper {
  const { desk, engine, namespaces } = deps;
  let nextMs = everyMs;

  const repair = async (namespace: Namespace): Promise<void> => {
    const repaired = await engine.repair(desk.caller(namespace), namespace);
    const { expired, woken, nextEndInMs = everyMs } = repaired;
    nextMs = Math.min(nextMs, nextEndInMs + afterEndMs);
    if (expired.length + woken.length > 0) {
      const ids = (tasks: readonly { id: string }[]) => tasks.map((task) => task.id);
      desk.log('info', 'the keeper moved tasks on', { namespace, expired: ids(expired), woken: ids(woken) });
    }
    await enforceEntitlement(deps, namespace, repaired.queuedLanes);
  };

  const freeIfEnded = async (record: IssueRecord): Promise<void> => {
    const task = await liveTask(desk, record);
    if (task === null && record.pointer) await release(desk, record.issue, record.pointer.id);
  };

  const pointers = async (): Promise<void> => {
    for (const record of await desk.engine.issues.live(desk.caller(intakeNamespace))) {
      // One task that cannot be read must not keep the others' issues bound.
      await freeIfEnded(record).catch(onError);
    }
  };

  const onError = (error: unknown): void => desk.log('error', 'the keeper failed', { error: String(error) });

  const runOnce = async (): Promise<void> => {
    nextMs = everyMs;
    // One namespace that fails must not keep the others from being repaired.
    for (const namespace of namespaces) await repair(namespace).catch(onError);
    await pointers();
  };

  return { runOnce, ...makeLoop(runOnce, () => nextMs, onError) };
}
