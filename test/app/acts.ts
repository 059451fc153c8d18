/** What people and workers do in the tests of the App's conversation with GitHub, and what is then to be seen. */
import type { Octokit } from '@octokit/rest';
import { noteKey, readNote } from '../../app/broker/note/index.ts';
import type { Engine } from '../../lanes/index.ts';
import { makeCaller, type Namespace } from '../../lanes/namespaces.ts';
import type { Note } from '../../lanes/records/notes.ts';
import type { Task } from '../../lanes/records/tasks.ts';
import { laneNamed, type World } from './world.ts';

/** A worker that does the supervisor's part: asks, begins, and records a result. */
export async function work(
  world: World,
  namespace: Namespace,
  result: (task: Task) => Parameters<Engine['record']>[3],
  number?: number,
): Promise<Task | { readonly refused: string }> {
  const worker = makeCaller('worker-1', [namespace]);
  const waiting = await world.engine.list(worker, namespace, ['queued']);
  const queued = waiting.find((task) => number === undefined || task.issue.number === number);
  if (!queued) throw new Error(`nothing is queued in ${namespace}`);
  const claim = await world.engine.claim(worker, namespace, queued.id);
  if (claim.kind !== 'claimed') throw new Error(`not claimable: ${claim.state}`);
  const answer = await world.hostPort.allowed(claim.lease);
  if (!answer.allowed) return { refused: answer.why };
  await world.engine.begin(worker, claim.lease);
  return world.engine.record(worker, claim.lease, claim.task, result(claim.task));
}

/** A run that met every criterion, as a check verified. */
export function allMet(task: Task): Parameters<Engine['record']>[3] {
  return {
    kind: 'result',
    outcome: 'done',
    summary: 'Did it.',
    dispositions: task.criteria.map((criterion) => ({
      criterion: criterion.id,
      revision: criterion.revision,
      kind: 'met',
      by: { kind: 'agent', run: task.run },
      evidence: [{ evidence: { kind: 'check', name: 'unit' }, standing: 'verified', how: 'passed' }],
      atMs: 1,
    })),
    proposals: [],
    notices: [],
  };
}

/** A run that said nothing of any criterion. */
export function nothingMet(_task: Task): Parameters<Engine['record']>[3] {
  return { kind: 'result', outcome: 'done', summary: '', dispositions: [], proposals: [], notices: [] };
}

export const twoCriteria = '## Acceptance criteria\n\n- [ ] The door opens\n- [ ] The bell rings\n';

/** Opens an issue as a person and sets labels on it. */
export async function openIssue(
  world: World,
  issue: { title?: string; body?: string; labels?: string[]; by?: Octokit },
): Promise<number> {
  const owner = world.repo.owner;
  const repo = world.repo.name;
  const { data } = await (issue.by ?? world.as.maria).issues.create({
    owner,
    repo,
    title: issue.title ?? 'A thing to do',
    body: issue.body ?? twoCriteria,
    ...(issue.labels ? { labels: issue.labels } : {}),
  });
  return data.number;
}

/** The parts that every call on an issue needs. */
export function at(world: World, number: number) {
  return { owner: world.repo.owner, repo: world.repo.name, issue_number: number };
}

/** The bodies of the App's comments, oldest first. */
export async function ourComments(world: World, number: number): Promise<string[]> {
  const all: { readonly login: string | undefined; readonly body: string }[] = [];
  for (let page = 1, size = 100; size === 100; page += 1) {
    const { data } = await world.as.maria.issues.listComments({ ...at(world, number), per_page: 100, page });
    all.push(...data.map(({ user, body }) => ({ login: user?.login, body: body ?? '' })));
    size = data.length;
  }
  return all
    .filter((comment) => comment.login === `${world.github.slug}[bot]`)
    .map((comment) => comment.body);
}

/** The issue's agent notes as machines read them, oldest first. */
export async function notesOn(world: World, number: number): Promise<Note[]> {
  const key = noteKey({ privateKeyPem: world.github.privateKey });
  const readings = (await ourComments(world, number)).map((body) => readNote(body, [key]));
  return readings.flatMap((reading) => (reading.ok ? [reading.note] : []));
}

/** The states that the notes tell. */
export async function noteStates(world: World, number: number): Promise<string[]> {
  return (await notesOn(world, number)).map((note) => note.state);
}

/** What is on the issue by reactions. */
export async function reactions(world: World, number: number): Promise<string[]> {
  const { data } = await world.as.maria.reactions.listForIssue(at(world, number));
  return data.map((reaction) => reaction.content);
}

/** The reasons that were written down for an issue. */
export async function reasonsOf(world: World, number: number): Promise<string[]> {
  return ((await world.record(number))?.decisions ?? []).map((decision) => decision.reason);
}

/** Issues whose runs have ended with everything met: what is left is the close. */
export async function closings(world: World, count: number): Promise<number[]> {
  const numbers: number[] = [];
  for (let n = 0; n < count; n += 1) numbers.push(await openIssue(world, { labels: ['lane:triage'] }));
  await world.settle();
  for (const number of numbers) {
    await work(world, laneNamed('triage').namespace, allMet, number);
    const state = (await world.task(number))?.state;
    if (state !== 'closing') throw new Error(`#${number} is ${state}`);
  }
  return numbers;
}

/** One such issue. */
export async function closing(world: World): Promise<number> {
  const [number] = await closings(world, 1);
  if (number === undefined) throw new Error('none');
  return number;
}
