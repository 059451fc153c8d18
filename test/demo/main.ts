/**
 * `npm run demo`: the main job on real parts. A stand-in for GitHub, Redis, the App and a worker; three issues, from
 * their label to their end, the theft of a task that is refused, and a sweep that deletes no work. Exit code 0 if every
 * step went as the story says, else 1, naming the step.
 */
import { Command } from 'commander';
import { type Cleaned, prepareCleaner } from './cleaner.ts';
import { makeNarrator, type Narrator } from './narrator.ts';
import { type PlayedIssue, play } from './play.ts';
import { openStage, type Stage } from './stage.ts';
import { stories } from './stories.ts';
import { renderIssues, renderSweeps } from './table.ts';
import { playTheft, type Theft } from './theft.ts';

const options = new Command('demo')
  .description('play three issues from their label to their end, on real parts')
  .option('--json', 'print one JSON object on stdout, and the story on stderr', false)
  .option('--keep', 'leave everything running at the end, and print the addresses', false)
  .parse()
  .opts<{ json: boolean; keep: boolean }>();

const print = (line: string) => (options.json ? process.stderr : process.stdout).write(`${line}\n`);
const narrator = makeNarrator(print, Date.now);

interface Played extends Partial<Theft> {
  readonly issues: readonly PlayedIssue[];
  readonly sweep?: Cleaned;
  readonly ok: boolean;
}

async function playAll(stage: Stage): Promise<Played> {
  const issues: PlayedIssue[] = [];
  const cleaner = prepareCleaner(stage);
  try {
    for (const story of stories) {
      // The supervisor is told of last, and its issue comes after theirs: it works beside the last of them.
      const labelled = story === stories.at(-1) ? cleaner.begin : undefined;
      issues.push(await play(stage.watched, story, narrator, labelled));
    }
    const theft = await playTheft(stage, narrator);
    const sweep = await cleaner.play(narrator);
    print(`\n${renderIssues(issues)}\n\n${renderSweeps(sweep)}\n`);
    return { issues, ...theft, sweep, ok: true };
  } catch (error) {
    print(`\nThe demo went wrong at this step: ${error instanceof Error ? error.message : String(error)}\n`);
    return { issues, ok: false };
  } finally {
    await cleaner.close();
  }
}

async function keepOpen({ github, url, dataDir, ended }: Stage, say: Narrator['say']): Promise<void> {
  say('', `the stand-in for GitHub: ${github.url} (as maria: token ${github.token})`);
  say('', `read an issue: curl ${github.url}/repos/acme/shop/issues/1/comments`);
  say('', `Lanekeeper: ${url}, its data: ${dataDir}`);
  say('', 'everything is left running; Ctrl-C ends it and removes its data');
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
  });
  await Promise.race([interrupted, ended]);
}

narrator.heading('Lanekeeper, from a label to a closed issue');
narrator.say('', 'starting a stand-in for GitHub, Redis, the App and a worker');
const stage = await openStage(process.env);
try {
  const result = await playAll(stage);
  if (options.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  if (options.keep) await keepOpen(stage, narrator.say);
  process.exitCode = result.ok ? 0 : 1;
} finally {
  await stage.close();
}
