/** A task with four criteria, as parked after its second run; tests change what they look at. */
import { generateKeyPairSync } from 'node:crypto';
import type { NoteInput } from '../../../../app/broker/note/index.ts';
import { parseNamespace } from '../../../../lanes/namespaces.ts';
import type { Criterion } from '../../../../lanes/records/criteria.ts';
import type { Disposition } from '../../../../lanes/records/dispositions.ts';
import { type ParkReason, type Task, taskSchema } from '../../../../lanes/records/tasks.ts';

export const atMs = Date.UTC(2026, 7, 12, 9, 30);
export const secret = 'a webhook secret of ours';
export const key = new TextEncoder().encode('a key for tests, long enough');
export const otherKey = new TextEncoder().encode('another key, of another App');

/** A new RSA key as PEM, PKCS#1 as GitHub hands it out. */
export function newPrivateKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
}

export function criterion(id: string, text: string, more: Partial<Criterion> = {}): Criterion {
  return { id, revision: 1, text, checked: false, checkbox: true, depth: 0, removed: false, ...more };
}

export function disposition(id: string, more: Partial<Disposition> = {}): Disposition {
  return {
    criterion: id,
    revision: 1,
    kind: 'met',
    by: { kind: 'agent', run: 2 },
    evidence: [],
    atMs,
    ...more,
  };
}

export const person = { kind: 'person', person: { login: 'alice', id: 7 } } as const;

const criteria = [
  criterion('c3f9', 'An empty name is refused with a message', { label: 'AC-1' }),
  criterion('k2w7', 'The README shows the new option'),
  criterion('p8d4', 'Old settings files still load'),
  criterion('t5m2', 'It works on Windows'),
];

const dispositions = {
  c3f9: disposition('c3f9', {
    evidence: [
      {
        evidence: { kind: 'check', name: 'unit' },
        standing: 'verified',
        how: 'passed again on the captured tree',
      },
      {
        evidence: { kind: 'file', path: 'src/name.ts' },
        standing: 'verified',
        how: 'is in the captured tree',
      },
    ],
  }),
  k2w7: disposition('k2w7', {
    reason: 'Added a section on the option',
    evidence: [
      {
        evidence: { kind: 'url', url: 'https://ci.example/1234' },
        standing: 'asserted',
        how: 'not an address in this repository',
      },
    ],
  }),
  p8d4: disposition('p8d4', { kind: 'waived', by: person, reason: 'nobody has old files' }),
};

export function makeTask(more: Partial<Task> = {}): Task {
  return taskSchema.parse({
    id: 'gh1a2b3c4d',
    namespace: 'lane:triage',
    lane: 'triage',
    issue: { installation: 11, repositoryId: 22, repository: 'acme/app', number: 12 },
    title: 'Names may be empty',
    approvedBy: { login: 'alice', id: 7 },
    approvedBodyHash: 'a'.repeat(64),
    criteria,
    dispositions,
    proof: 'verified',
    maxRuns: 3,
    state: 'parked',
    revision: 9,
    fence: 4,
    run: 2,
    runsUsed: 1,
    wakes: 2,
    noteSequence: 1,
    reason: 'criteria_open',
    notBeforeMs: 0,
    claimedBy: 'worker-a',
    proposals: [
      disposition('t5m2', { kind: 'not_applicable', reason: 'the tool is a server and runs on Linux only' }),
    ],
    answers: [],
    history: [
      { run: 1, worker: 'worker-a', outcome: 'died', detail: 'the agent timed out after 60 min', atMs },
      { run: 2, worker: 'worker-a', outcome: 'result', detail: 'done', atMs },
    ],
    summary: 'Refuses empty names in `parseName`.\n\n- adds a test\n- changes the README',
    notices: ['A zero-width space in the issue was taken out before the agent read it.'],
    patch: {
      copy: 'x1',
      worker: 'worker-a',
      run: 2,
      base: 'b'.repeat(40),
      tree: 'c'.repeat(40),
      sha256: 'd'.repeat(64),
      bytes: 2_345,
      files: 3,
      partial: false,
    },
    createdAtMs: atMs,
    changedAtMs: atMs,
    ...more,
    ...(more.namespace !== undefined && { namespace: parseNamespace(more.namespace) }),
  });
}

const common = { sequence: 1, app: { id: 99, slug: 'lanekeeper-acme' }, atMs };
const open = [
  { criterion: 'k2w7', why: 'unverified' },
  { criterion: 't5m2', why: 'no_disposition' },
] as const;

/** A parked note's input. */
export function parked(
  reason: ParkReason,
  task: Partial<Task> = {},
  more: Partial<NoteInput> = {},
): NoteInput {
  return { ...common, open, ...more, state: 'parked', reason, task: makeTask({ reason, ...task }) };
}

/** A resumed note's input, by alice with an answer. */
export function resumed(task: Partial<Task> = {}): NoteInput {
  const actor = { login: 'alice', id: 7 };
  const answers = [{ by: actor, text: 'Names of spaces count as empty too.', atMs }];
  return { ...common, open, actor, state: 'resumed', task: makeTask({ state: 'queued', answers, ...task }) };
}

/** A complete note's input. */
export function complete(
  stateReason: 'completed' | 'not_planned' = 'completed',
  task: Partial<Task> = {},
): NoteInput {
  return {
    ...common,
    open: [],
    state: 'complete',
    stateReason,
    task: makeTask({ state: 'complete', ...task }),
  };
}
