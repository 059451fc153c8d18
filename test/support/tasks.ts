/** Admissions, criteria and verdicts for tests of the engine. */
import { type Caller, makeCaller, type Namespace, parseNamespace } from '../../lanes/namespaces.ts';
import type { Criterion } from '../../lanes/records/criteria.ts';
import type { Disposition } from '../../lanes/records/dispositions.ts';
import type { RunEnd } from '../../lanes/records/runs.ts';
import type { NewTask } from '../../lanes/records/tasks.ts';

export const lane: Namespace = parseNamespace('lane:triage');
export const alice = { login: 'alice', id: 1 };

export function callerNamed(identity: string, namespaces: readonly Namespace[] = [lane]): Caller {
  return makeCaller(identity, namespaces);
}

export function criterion(id: string, more: Partial<Criterion> = {}): Criterion {
  return {
    id,
    revision: 1,
    text: `about ${id}`,
    checked: false,
    checkbox: true,
    depth: 0,
    removed: false,
    ...more,
  };
}

/** An agent's `met`, with a check that the host verified. */
export function met(id: string, more: Partial<Disposition> = {}): Disposition {
  const evidence = [
    { evidence: { kind: 'check', name: 'unit' }, standing: 'verified', how: 'passed' },
  ] as const;
  const by = { kind: 'agent', run: 1 } as const;
  return { criterion: id, revision: 1, kind: 'met', by, evidence: [...evidence], atMs: 0, ...more };
}

/** A person's verdict. */
export function byAlice(id: string, kind: Disposition['kind'], more: Partial<Disposition> = {}): Disposition {
  const by = { kind: 'person', person: alice } as const;
  return { criterion: id, revision: 1, kind, by, evidence: [], reason: 'because', atMs: 0, ...more };
}

let counter = 0;

export function newTask(more: Partial<NewTask> = {}): NewTask {
  counter += 1;
  return {
    id: `task${String(counter).padStart(8, '0')}`,
    namespace: lane,
    lane: 'triage',
    issue: { installation: 1, repositoryId: 7, repository: 'acme/app', number: counter },
    title: 'A thing to do',
    approvedBy: alice,
    approvedBodyHash: 'a'.repeat(64),
    criteria: [criterion('c1')],
    dispositions: {},
    proof: 'verified',
    maxRuns: 3,
    ...more,
  };
}

export function result(
  dispositions: Disposition[],
  more: Partial<Extract<RunEnd, { kind: 'result' }>> = {},
): RunEnd {
  return { kind: 'result', outcome: 'done', summary: 's', dispositions, proposals: [], notices: [], ...more };
}

export const crash = { kind: 'died', death: { kind: 'exit', code: 7 }, tail: '' } as const satisfies RunEnd;
