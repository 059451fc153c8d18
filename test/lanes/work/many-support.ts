/** What the tests of a worker with many lanes share: a Redis, lanes in several namespaces, runs that end when told. */
import { randomUUID } from 'node:crypto';
import {
  createEngine,
  type Engine,
  type EngineOptions,
  fillLane,
  type Lane,
  openRedis,
} from '../../../lanes/index.ts';
import { makeRegistry, type Namespace, parseNamespace } from '../../../lanes/namespaces.ts';
import { laneSchema } from '../../../lanes/records/config.ts';
import type { RunOrder, RunOutcome } from '../../../lanes/work/run-room.ts';
import type { User } from '../../support/acl.ts';
import { result } from '../../support/tasks.ts';

export const [main, docs, build] = ['main', 'lane:docs', 'lane:build'].map(parseNamespace) as [
  Namespace,
  Namespace,
  Namespace,
];
const registry = makeRegistry([main, docs, build]);

export const done: RunOutcome = result([]);

/** An engine whose namespaces are opened as these users, where one is named. */
export function engineOf(
  url: string,
  users: Partial<Record<Namespace, User>> = {},
  more: Partial<EngineOptions> = {},
): Engine {
  return createEngine({ connect: (ns) => openRedis(url, users[ns]), registry, id: randomUUID, ...more });
}

export function laneIn(namespace: Namespace, name: string, concurrency = 1): Lane {
  return fillLane(name, laneSchema.parse({ agent: { kind: 'checks' }, namespace, concurrency }));
}

/** Runs that last until the test ends them. */
export class Runs {
  /** Task ids by lane, in the order in which their runs began. */
  readonly began = new Map<string, string[]>();
  readonly #going = new Map<string, { lane: string; end: () => void }>();
  /** The most runs of a lane that went on at once. */
  readonly most = new Map<string, number>();

  readonly supervise = async ({ task, lane, signal }: RunOrder): Promise<RunOutcome> => {
    this.began.set(lane.name, [...(this.began.get(lane.name) ?? []), task.id]);
    const ended = new Promise<RunOutcome>((resolve) => {
      this.#going.set(task.id, { lane: lane.name, end: () => resolve(done) });
      signal.addEventListener('abort', () => resolve({ kind: 'stopped', why: signal.reason }), {
        once: true,
      });
    });
    this.most.set(lane.name, Math.max(this.most.get(lane.name) ?? 0, this.going(lane.name).length));
    const outcome = await ended;
    this.#going.delete(task.id);
    return outcome;
  };

  going(lane: string): string[] {
    return [...this.#going].filter(([, run]) => run.lane === lane).map(([id]) => id);
  }

  end(id: string): void {
    this.#going.get(id)?.end();
  }
}
