/** What a right end is: on GitHub as people see it, and in the store, where nothing may be left that would go on. */
import { expect } from 'vitest';
import {
  createEngine,
  type Engine,
  embeddedAdminUrl,
  type IssueRecord,
  makeCaller,
  openRedis,
  type Task,
} from '../../lanes/index.ts';
import { makeRegistry, parseNamespace } from '../../lanes/namespaces.ts';
import { look, waitFor } from '../demo/watch.ts';
import { until } from '../support/until.ts';
import type { FlowStage } from './stage.ts';

export const lane = parseNamespace('lane:fix');
const registry = makeRegistry([lane]);
/** May look at everything. */
export const testCaller = makeCaller('test', registry);

export interface Expected {
  /** Default: one complete note. */
  readonly notes?: readonly string[];
  /** The number of the run that the last note tells of. */
  readonly run?: number;
  /** The runs that count against the lane's limit. */
  readonly runsUsed?: number;
  readonly withinMs?: number;
}

/** Where the store of a stage is: the embedded one of its data directory, unless another is given. */
export type StoreOf = { readonly redisUrl?: string };

/** The address of the stage's own Redis, as its superuser. */
export async function storeUrl(stage: FlowStage): Promise<string> {
  return embeddedAdminUrl(stage.dataDir());
}

/** Opens the store beside Lanekeeper, as its commands do. */
export async function inStore<T>(
  stage: FlowStage,
  { redisUrl }: StoreOf,
  use: (engine: Engine) => Promise<T>,
): Promise<T> {
  const url = redisUrl ?? (await storeUrl(stage));
  const engine = createEngine({ connect: () => openRedis(url), registry, id: () => crypto.randomUUID() });
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

/** The issue's task, ended or not. */
export async function taskOf(stage: FlowStage, engine: Engine, number: number): Promise<Task | null> {
  const record = await engine.issues.get(testCaller, stage.repo.id, number);
  if (record?.latest === undefined) return null;
  return engine.get(testCaller, record.latest.namespace, record.latest.task);
}

/** What the App keeps of the issue. */
export function issueRecord(stage: FlowStage, number: number): Promise<IssueRecord | null> {
  return inStore(stage, {}, (engine) => engine.issues.get(testCaller, stage.repo.id, number));
}

/** Waits until the issue's task is as wanted, and gives it back. */
export function waitForTask(
  stage: FlowStage,
  number: number,
  what: string,
  isThere: (task: Task) => boolean,
  of: StoreOf & { readonly withinMs?: number } = {},
): Promise<Task> {
  return inStore(stage, of, (engine) =>
    until(
      `#${number}: ${what}`,
      async () => {
        const task = await taskOf(stage, engine, number);
        return task !== null && isThere(task) ? task : undefined;
      },
      of.withinMs,
    ),
  );
}

/** Waits for the issue's end, and checks that it is right: closed, told once, nothing left over. */
export async function endsRight(
  stage: FlowStage,
  number: number,
  expected: Expected = {},
  of: StoreOf = {},
): Promise<void> {
  const isThere = (seen: Awaited<ReturnType<typeof look>>) =>
    seen.state === 'closed' && seen.notes.at(-1)?.state === 'complete';
  await waitFor(stage.watched, number, 'closing with a complete note', isThere, expected.withinMs ?? 40_000);
  await inStore(stage, of, (engine) => storeIsAtRest(stage, engine, number, expected));
  const seen = await look(stage.watched, number);
  expect(seen.stateReason).toBe('completed');
  expect(seen.notes.map(({ state }) => state)).toEqual(expected.notes ?? ['complete']);
  if (expected.run !== undefined) expect(seen.notes.at(-1)?.run).toBe(expected.run);
  expect(await comments(stage, number)).toHaveLength(seen.notes.length);
  expect(await reactions(stage, number)).toEqual(['eyes']);
}

async function storeIsAtRest(
  stage: FlowStage,
  engine: Engine,
  number: number,
  { runsUsed }: Expected,
): Promise<void> {
  const task = await until(`#${number}: the task is complete`, async () => {
    const found = await taskOf(stage, engine, number);
    return found?.state === 'complete' ? found : undefined;
  });
  expect(task.lease).toBeUndefined();
  if (runsUsed !== undefined) expect(task.runsUsed).toBe(runsUsed);
  await until(`#${number}: its pointer is cleared and its effects are delivered`, async () => {
    const record = await engine.issues.get(testCaller, stage.repo.id, number);
    const effects = await engine.effects.read(testCaller, lane, '0', { count: 100 });
    const loose = await engine.loose.read(testCaller, '0', { count: 100 });
    const waits =
      effects.some(({ effect }) => effect?.task.issue.number === number) ||
      loose.some(({ effect }) => effect?.issue.number === number);
    return record?.pointer === undefined && !waits;
  });
  const live = await engine.list(testCaller, lane);
  expect(live.filter((one) => one.issue.number === number)).toEqual([]);
  expect(await engine.deliveries.dead(testCaller, 10)).toEqual([]);
}

/** The App's comments. */
export async function comments({ watched, github }: FlowStage, number: number): Promise<string[]> {
  const { people, owner, repo } = watched;
  const all = await people.paginate(people.issues.listComments, { owner, repo, issue_number: number });
  return all.filter(({ user }) => user?.login === `${github.slug}[bot]`).map(({ body }) => body ?? '');
}

async function reactions({ watched }: FlowStage, number: number): Promise<string[]> {
  const { people, owner, repo } = watched;
  const { data } = await people.reactions.listForIssue({ owner, repo, issue_number: number });
  return data.map(({ content }) => content);
}
