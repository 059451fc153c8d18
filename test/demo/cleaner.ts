/**
 * The cleaner: a supervisor works on an issue, with nothing delivered yet. A rival under the same instance name sweeps,
 * and may not touch its copy; the supervisor is killed, the rival sweeps again, saves the work, and only then cleans up.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { addToken } from '../../app/fleet/token-file.ts';
import { tombstoneSchema } from '../../lanes/records/copies.ts';
import { type Box, lanekeeper, startBox } from './commands.ts';
import type { Narrator } from './narrator.ts';
import type { Stage } from './stage.ts';

const owner = 'box-43';
const namespace = 'agent:43';
const workedOn = 'src/report.js';
const within = 40_000;

/** What the two sweeps removed; of the dead owner's copy also what its tombstone says. */
export interface Cleaned {
  readonly live: { readonly removed: number };
  readonly dead: {
    readonly removed: number;
    readonly reaper: z.infer<typeof tombstoneSchema>['reapers'][number];
    readonly reason: string;
    readonly patchSha256: string;
  };
}

export interface Cleaner {
  /** Gives the supervisor its issue, and sweeps beside it as soon as it has work; other stories go on meanwhile. */
  begin(): void;
  /** Tells it, and brings it to its end. @throws Error naming the step that went otherwise. */
  play(narrator: Narrator): Promise<Cleaned>;
  close(): Promise<void>;
}

const sweptSchema = z.object({ removed: z.number() });

/** Starts the supervisor early: it is up when its turn comes. */
export function prepareCleaner(stage: Stage): Cleaner {
  const box = addToken(stage.dataDir, owner, Date.now()).then(({ token }) =>
    startBox(stage, owner, token, namespace),
  );
  let live: Promise<LiveScene> | undefined;
  // What goes wrong is told where it is waited for, which may be later.
  box.catch(() => {});
  return {
    begin() {
      live = box.then((running) => sweepBeside(stage, running));
      live.catch(() => {});
    },
    async play(narrator) {
      if (live === undefined) throw new Error('the supervisor was given no issue');
      return await playCleaner(stage, await box, await live, narrator);
    },
    async close() {
      await box.then((running) => running.kill()).catch(() => {});
    },
  };
}

interface LiveScene {
  readonly number: number;
  readonly copy: string;
  readonly removed: number;
}

async function sweepBeside(stage: Stage, box: Box): Promise<LiveScene> {
  const { people, owner: org, repo } = stage.watched;
  const title = 'A report for the auditors';
  const body = '## Acceptance criteria\n- [ ] There is a report\n';
  const { data: issue } = await people.issues.create({ owner: org, repo, title, body });
  await people.issues.addLabels({ owner: org, repo, issue_number: issue.number, labels: ['lane:slow'] });
  const copy = await untilWorkedOn(box);
  const { removed } = await sweepAsRival(stage, box);
  return { number: issue.number, copy, removed };
}

async function playCleaner(
  stage: Stage,
  box: Box,
  { number, copy, removed }: LiveScene,
  narrator: Narrator,
): Promise<Cleaned> {
  narrator.heading('A supervisor dies in the middle, and a rival of the same name sweeps');
  narrator.say(
    owner,
    `works on #${number} meanwhile: its agent has written ${workedOn}, nothing is delivered`,
  );
  narrator.say('rival', `also named ${owner}, sweeps: ${removed} removed, the owner lives`);
  if (removed !== 0) throw new Error(`a live owner's copy was removed by a rival's sweep (${removed})`);
  await workOf(join(box.dataDir, 'copies', 'work', copy, workedOn));
  await box.kill();
  narrator.say(owner, 'is killed (SIGKILL), and its agent dies with it');
  const swept = await sweepAsRival(stage, box);
  if (swept.removed !== 1) throw new Error(`one copy should be removed, and ${swept.removed} were`);
  const { reapers, reason, receipt } = await tombstoneOf(box, copy);
  const [reaper, ...others] = reapers;
  if (reaper === undefined || others.length > 0 || receipt === null)
    throw new Error('the tombstone should name one reaper, and the patch that holds the work');
  const patch = await workOf(join(box.dataDir, 'outbox', `${copy}.${receipt.kind}.patch`));
  const patchSha256 = createHash('sha256').update(patch).digest('hex');
  if (patchSha256 !== receipt.sha256) throw new Error('the patch is not the one that the tombstone names');
  narrator.say('rival', `sweeps again: ${swept.removed} removed, its work saved first (${reason})`);
  narrator.say('', `the tombstone names the reaper: ${reaper.instance}, pid ${reaper.pid}`);
  return { live: { removed }, dead: { removed: swept.removed, reaper, reason, patchSha256 } };
}

/** A sweep by another process under the owner's instance name, in the owner's data directory. */
async function sweepAsRival({ env, command }: Stage, { dataDir }: Box): Promise<z.infer<typeof sweptSchema>> {
  const rival = { ...env, LANES_DATA_DIR: dataDir, LANES_WORKER_NAME: owner };
  return sweptSchema.parse(JSON.parse(await lanekeeper({ env: rival, command }, 'sweep', '--json')));
}

/** The id of the copy that the agent has work in. */
async function untilWorkedOn({ dataDir }: Box): Promise<string> {
  const folder = join(dataDir, 'copies', 'work');
  const end = Date.now() + within;
  while (Date.now() < end) {
    for (const copy of await readdir(folder).catch(() => [])) {
      const text = await readFile(join(folder, copy, workedOn), 'utf8').catch(() => '');
      if (text.endsWith('\n')) return copy;
    }
    await pause(100);
  }
  throw new Error(`${owner} did not begin to work`);
}

async function tombstoneOf({ dataDir }: Box, copy: string): Promise<z.infer<typeof tombstoneSchema>> {
  const text = await readFile(join(dataDir, 'tombstones', `${copy}.json`), 'utf8');
  return tombstoneSchema.parse(JSON.parse(text));
}

/** @throws Error where the file does not hold what the agent wrote. */
async function workOf(path: string): Promise<Buffer> {
  const content = await readFile(path);
  if (content.includes('forty minutes of work')) return content;
  throw new Error(`the work is not in ${path}`);
}
