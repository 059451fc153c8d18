/** Runs by how they ended, from the events of their tasks. */
import { type TaskEvent, taskEventSchema } from '../../records/ledger.ts';
import { Tally } from './tally.ts';
import type { RunOutcome } from './types.ts';

const outcomes = [
  ...(['result', 'died', 'unable', 'handed_back', 'taken_back', 'lease_expired'] as const),
  ...(['parked', 'cancelled', 'none'] as const),
] as const satisfies readonly RunOutcome[];

/** Ends by people: only of a run that has no other end, since a task at rest has the number of its last run too. */
const byPeople: ReadonlySet<string> = new Set(['parked', 'cancelled']);
const ends: ReadonlySet<string> = new Set(outcomes);

export class Runs {
  readonly #events = new Tally<TaskEvent['event']>();
  readonly #outcomes = new Map<string, RunOutcome>();
  readonly #claimed = new Set<string>();

  add(event: TaskEvent): void {
    this.#events.add(event.event);
    const key = runKey(event);
    if (event.event === 'claimed') this.#claimed.add(key);
    if (!ends.has(event.event)) return;
    const outcome = event.event as RunOutcome;
    if (!byPeople.has(outcome)) this.#outcomes.set(key, outcome);
    // A park of a task whose run was claimed and had no end is the end of that run.
    else if (this.#claimed.has(key) && !this.#outcomes.has(key)) this.#outcomes.set(key, outcome);
  }

  outcomeOf(run: Pick<TaskEvent, 'namespace' | 'task' | 'run'>): RunOutcome {
    return this.#outcomes.get(runKey(run)) ?? 'none';
  }

  report(): { taskEvents: Record<TaskEvent['event'], number>; runs: Record<RunOutcome, number> } {
    const tally = new Tally<RunOutcome>();
    for (const outcome of this.#outcomes.values()) tally.add(outcome);
    for (const key of this.#claimed) if (!this.#outcomes.has(key)) tally.add('none');
    return { taskEvents: this.#events.all(taskEventSchema.shape.event.options), runs: tally.all(outcomes) };
  }
}

/** A run's number is its task's own, and never given twice. */
export function runKey({ namespace, task, run }: Pick<TaskEvent, 'namespace' | 'task' | 'run'>): string {
  return `${namespace}\n${task}\n${run}`;
}
