/** What the tests of whole runs share: a worker's parts, all real but the host port, which is the edge to GitHub. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseNamespace } from '../../../lanes/namespaces.ts';
import { type Lane, laneSchema } from '../../../lanes/records/config.ts';
import { type Criterion, criterionSchema } from '../../../lanes/records/criteria.ts';
import type { AllowedAnswer, LookUpAnswer, LookUpQuery } from '../../../lanes/records/host.ts';
import { type Lease, leaseSchema, type RunInput, runInputSchema } from '../../../lanes/records/runs.ts';
import { type Task, taskSchema } from '../../../lanes/records/tasks.ts';
import { type Containment, probeContainment } from '../../../lanes/work/containment.ts';
import type { RunOrder, SupervisorDeps } from '../../../lanes/work/run-room.ts';
import type { Workplace } from '../../../lanes/work/workplace.ts';
import { forever, makePlace, makeRemote, temporaryFolder } from './support.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
export const agentsFolder = join(root, 'test', 'fixtures', 'agents');
const namespace = parseNamespace('lane:triage');

/** What the machine offers, probed once. */
export const levels: readonly Containment[] = await probeContainment(temporaryFolder());
export const contained = levels.some(({ level }) => level !== 'none');

/** The command line of one of the small agents. */
export function agentRun(name: string, ...args: string[]): string[] {
  return [process.execPath, join(agentsFolder, `${name}.mjs`), ...args];
}

/** A lane of this agent, with the defaults of the operator's file. */
export function makeLane(options: Record<string, unknown>): Lane {
  const { label = 'lane:triage', ...lane } = laneSchema.parse({ agent: { kind: 'checks' }, ...options });
  return { ...lane, name: 'triage', label, namespace };
}

export function makeCriteria(...ids: string[]): Criterion[] {
  return ids.map((id) =>
    criterionSchema.parse({
      ...{ id, revision: 1, text: `the work ${id} is done`, checked: false, checkbox: true },
      ...{ depth: 0, removed: false },
    }),
  );
}

/** A fake host port: it answers from what it is told, and keeps what it was asked. */
export class FakeHost {
  readonly asked: LookUpQuery[] = [];
  answer: AllowedAnswer;
  found: (query: LookUpQuery) => LookUpAnswer = () => ({ found: false, how: 'GitHub has no such thing' });

  constructor(input: RunInput) {
    this.answer = { allowed: true, input };
  }

  async allowed(): Promise<AllowedAnswer> {
    return this.answer;
  }

  async lookUp(_lease: Lease, query: LookUpQuery): Promise<LookUpAnswer> {
    this.asked.push(query);
    return this.found(query);
  }
}

export interface RunSetting {
  readonly place: Workplace;
  readonly host: FakeHost;
  readonly begun: Lease[];
  readonly remote: string;
  deps: SupervisorDeps;
  /** An order for the run with this number. */
  order(options: { lane: Lane; run?: number; task?: Partial<Task>; signal?: AbortSignal }): RunOrder;
}

/** A worker with its data folder, a repository over file://, and an issue with these criteria. */
export async function makeSetting(
  options: {
    files?: Record<string, string>;
    criteria?: Criterion[];
    input?: Partial<RunInput>;
    place?: Workplace;
  } = {},
): Promise<RunSetting> {
  const place = options.place ?? (await makePlace());
  const remote = makeRemote(options.files ?? { 'README.md': 'hello\n' });
  const criteria = options.criteria ?? makeCriteria('aa');
  const issue = { installation: 1, repositoryId: 7, repository: 'acme/shop', number: 3 };
  const input = runInputSchema.parse({
    ...{ issue, url: 'https://git.example/acme/shop/issues/3', title: 'A title', body: 'A body' },
    ...{ author: 'ann', labels: [], comments: [], stripped: [], criteria, proves: {} },
    clone: { url: `file://${remote}` },
    ...options.input,
  });
  const host = new FakeHost(input);
  const begun: Lease[] = [];
  const deps: SupervisorDeps = {
    ...{ host, place, levels, hide: [], graceMs: 200, networkEnv: {} },
    begin: async (lease) => void begun.push(lease),
    worker: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, LANG: 'C.UTF-8', TZ: 'UTC' },
    promptTemplate: readFileSync(join(root, 'templates/prompts/task.md'), 'utf8'),
  };
  const order: RunSetting['order'] = ({ lane, run = 1, task = {}, signal = forever }) => ({
    task: makeTask({ ...task, run, criteria, issue }),
    lease: leaseSchema.parse({
      ...{ namespace, task: 'task0000001', run, fence: run, id: '0123456789abcdef', worker: 'worker-a' },
      ...{ epoch: 'e1', endsAtMs: 1_000_000 },
    }),
    lane,
    signal,
  });
  return { place, host, begun, remote, deps, order };
}

function makeTask(changes: Partial<Task>): Task {
  return taskSchema.parse({
    ...{ id: 'task0000001', namespace, lane: 'triage', title: 'A title', proof: 'verified', maxRuns: 3 },
    ...{ approvedBy: { login: 'ann', id: 1 }, approvedBodyHash: '0'.repeat(64), dispositions: {} },
    ...{ state: 'running', revision: 1, fence: 1, runsUsed: 1, wakes: 1, noteSequence: 0, notBeforeMs: 0 },
    ...{ proposals: [], answers: [], history: [], summary: '', notices: [] },
    ...{ createdAtMs: 0, changedAtMs: 0 },
    ...changes,
  });
}
