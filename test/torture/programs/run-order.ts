/** The task, the lease and the lane of one run, as a claim would give them. */
import { parseNamespace } from '../../../lanes/namespaces.ts';
import { laneSchema } from '../../../lanes/records/config.ts';
import type { ContainmentLevel } from '../../../lanes/records/copies.ts';
import { leaseSchema, type RunInput, runInputSchema } from '../../../lanes/records/runs.ts';
import { taskSchema } from '../../../lanes/records/tasks.ts';
import type { RunOrder } from '../../../lanes/work/run-room.ts';

const namespace = parseNamespace('lane:torture');
const issue = { installation: 1, repositoryId: 7, repository: 'acme/shop', number: 3 };
const criteria = [
  {
    id: 'aa',
    revision: 1,
    text: 'the work is done',
    checked: false,
    checkbox: true,
    depth: 0,
    removed: false,
  },
];

/** What the App answers to "still allowed?". */
export function runInput(remote: string): RunInput {
  return runInputSchema.parse({
    ...{ issue, url: 'https://git.example/acme/shop/issues/3', title: 'A title', body: 'A body' },
    ...{ author: 'ann', labels: [], comments: [], stripped: [], criteria, proves: {} },
    clone: { url: `file://${remote}` },
  });
}

/** The order for the first run of a task, by an agent with this command line. */
export function orderFor(task: string, argv: readonly string[], level: ContainmentLevel): RunOrder {
  const containment = level === 'none' ? 'none' : 'required';
  const agent = { kind: 'command', run: argv };
  const { label = 'torture', ...lane } = laneSchema.parse({ agent, containment, writes: true });
  return {
    task: taskSchema.parse({
      ...{ id: task, namespace, lane: 'torture', title: 'A title', proof: 'asserted', maxRuns: 1, issue },
      ...{
        approvedBy: { login: 'ann', id: 1 },
        approvedBodyHash: '0'.repeat(64),
        criteria,
        dispositions: {},
      },
      ...{ state: 'running', revision: 1, fence: 1, run: 1, runsUsed: 1, wakes: 1, noteSequence: 0 },
      ...{ proposals: [], answers: [], history: [], summary: '', notices: [] },
      ...{ notBeforeMs: 0, createdAtMs: 0, changedAtMs: 0 },
    }),
    lease: leaseSchema.parse({
      ...{ namespace, task, run: 1, fence: 1, id: '0123456789abcdef', worker: 'torture', epoch: 'e1' },
      endsAtMs: Number.MAX_SAFE_INTEGER,
    }),
    lane: { ...lane, name: 'torture', label, namespace },
    signal: new AbortController().signal,
  };
}
