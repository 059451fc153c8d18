/**
 * The theft, and its refusal: a task lies in `agent:42`, whose box is not up yet. A warm worker, which has nothing to do,
 * asks for it in every way that it has; then the box comes and does it, as itself.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { addToken } from '../../app/fleet/token-file.ts';
import { lanekeeper, startBox } from './commands.ts';
import type { Narrator } from './narrator.ts';
import type { Stage } from './stage.ts';
import { waitFor } from './watch.ts';

export const fleetNamespace = 'agent:42';
const [warm, box] = ['demo-worker', 'box-42'] as const;

export interface Refusal {
  readonly code: string;
  readonly worker: string;
  readonly namespace: string;
}

export interface Theft {
  /** What the ledger has of it. */
  readonly refusals: readonly Refusal[];
  readonly fleet: { readonly namespace: string; readonly claimedBy: string; readonly outcome: string };
}

const refusalsSchema = z.object({
  newest: z.array(z.object({ code: z.string(), by: z.string(), namespace: z.string() })),
});
const explainedSchema = z.object({
  task: z.object({ namespace: z.string(), claimedBy: z.string().optional(), state: z.string() }),
});

const body = `## Acceptance criteria
- [ ] AC-1: The total always has two decimals
`;

/**
 * Plays it on the stage.
 * @throws Error naming the step that went otherwise.
 */
export async function playTheft(stage: Stage, narrator: Narrator): Promise<Theft> {
  const { people, owner, repo } = stage.watched;
  narrator.heading('A box, and a warm worker that would take its work');
  const tokenOf = async (worker: string) => (await addToken(stage.dataDir, worker, Date.now())).token;
  const tokens = { warm: await tokenOf(warm), box: await tokenOf(box) };
  const { data: issue } = await people.issues.create({ owner, repo, title: 'For the box alone', body });
  await people.issues.addLabels({ owner, repo, issue_number: issue.number, labels: ['lane:boxed'] });
  narrator.say(
    'maria',
    `opens #${issue.number} and sets the label lane:boxed: its namespace is ${fleetNamespace}`,
  );
  await untilPending(stage, tokens.box);
  narrator.say('lanekeeper', `queues it; ${box} is not up yet`);

  await attempt(stage, tokens.warm, narrator);
  if ((await pendingOf(stage, tokens.box)) !== 1) throw new Error('the task was touched by the warm worker');

  narrator.say(box, 'boots, and claims as itself');
  const running = startBox(stage, box, tokens.box, fleetNamespace);
  try {
    await waitFor(stage.watched, issue.number, 'closing by the box', ({ state }) => state === 'closed');
  } finally {
    await running.stop();
  }
  const [explained, refusals] = await Promise.all([
    lanekeeper(stage, 'explain', String(issue.number), '--json'),
    refusalsOf(stage),
  ]);
  const { task } = explainedSchema.parse(JSON.parse(explained));
  const fleet = { namespace: task.namespace, claimedBy: task.claimedBy ?? '', outcome: task.state };
  if (fleet.claimedBy !== box || fleet.outcome !== 'complete')
    throw new Error(`${box} should have completed it; it is ${fleet.outcome}, claimed by ${fleet.claimedBy}`);
  narrator.say(
    'lanekeeper',
    `posts the complete note and closes #${issue.number}: claimed by ${fleet.claimedBy}`,
  );
  return { refusals, fleet };
}

/** Counts and claims, as a consumer that means well or not. */
async function attempt(stage: Stage, token: string, narrator: Narrator): Promise<void> {
  const unscoped = await pendingOf(stage, token, null);
  narrator.say(warm, `asks "is anything pending?": ${unscoped}`);
  if (unscoped !== 0) throw new Error(`the unscoped count should be 0, and is ${unscoped}`);
  const response = await call(stage, token, 'claim', { namespace: fleetNamespace });
  const answer = z.object({ error: z.object({ code: z.string() }) }).safeParse(await response.json());
  narrator.say(
    warm,
    `tries to claim in ${fleetNamespace}: ${response.status} ${answer.data?.error.code ?? ''}`,
  );
  if (response.status !== 403 || answer.data?.error.code !== 'fleet_queue_off_limits')
    throw new Error(
      `the claim should be refused as fleet_queue_off_limits, and was answered ${response.status}`,
    );
}

async function refusalsOf(stage: Stage): Promise<Refusal[]> {
  const told = refusalsSchema.parse(JSON.parse(await lanekeeper(stage, 'refusals', '--json')));
  const refusals = told.newest.map(({ code, by, namespace }) => ({ code, worker: by, namespace }));
  if (!refusals.some(({ code }) => code === 'fleet_queue_off_limits'))
    throw new Error('the refusal should be in the ledger');
  return refusals;
}

async function untilPending(stage: Stage, token: string): Promise<void> {
  const end = Date.now() + 30_000;
  while ((await pendingOf(stage, token)) === 0) {
    if (Date.now() > end) throw new Error(`no task appeared in ${fleetNamespace}`);
    await pause(150);
  }
}

async function pendingOf(
  stage: Stage,
  token: string,
  namespace: string | null = fleetNamespace,
): Promise<number> {
  const query = namespace === null ? '' : `?namespace=${namespace}`;
  const response = await call(stage, token, `pending${query}`);
  return z.object({ pending: z.number() }).parse(await response.json()).pending;
}

function call(stage: Stage, token: string, path: string, body?: object): Promise<Response> {
  return fetch(`${stage.url}/fleet/v1/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
