/**
 * `npm run demo`: the main job on real parts. A stand-in for GitHub, Redis, the App and a worker; three issues, from
 * their label to their end. Exit code 0 if every step went as the story says, else 1, naming the step.
 */
import { Command } from 'commander';
import { makeNarrator, type Narrator } from './narrator.ts';
import { type PlayedIssue, play } from './play.ts';
import { openStage, type Stage } from './stage.ts';
import { stories } from './stories.ts';
import { renderTable } from './table.ts';

const options = new Command('demo')
  .description('play three issues from their label to their end, on real parts')
  .option('--json', 'print one JSON object on stdout, and the story on stderr', false)
  .option('--keep', 'leave everything running at the end, and print the addresses', false)
  .parse()
  .opts<{ json: boolean; keep: boolean }>();

const print = (line: string) => (options.json ? process.stderr : process.stdout).write(`${line}\n`);
const narrator = makeNarrator(print, Date.now);

async function playAll(stage: Stage): Promise<{ issues: PlayedIssue[]; ok: boolean }> {
  const issues: PlayedIssue[] = [];
  try {
    for (const story of stories) issues.push(await play(stage.watched, story, narrator));
    print(`\n${renderTable(issues)}\n`);
    return { issues, ok: true };
  } catch (error) {
    print(`\nThe demo went wrong at this step: ${error instanceof Error ? error.message : String(error)}\n`);
    return { issues, ok: false };
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
