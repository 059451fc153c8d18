/** `lanekeeper explain`: every decision about an issue, and how its task stands. */
import { Command } from 'commander';
import type { IssueRecord, Task } from '../../lanes/index.ts';
import { plainLine } from '../broker/note/text.ts';
import { type IssueAddress, parseIssueAddress } from './issue-address.ts';
import { refusing } from './run.ts';
import { findIssue, latestTask, withStore } from './store.ts';

const help = `
It asks the Redis of a running \`lanekeeper start\` (of the same LANES_DATA_DIR), or LANES_REDIS_URL.
Exit code: 0 explained, 1 nothing is known of the issue or Redis does not answer, 2 bad usage.`;

/** The command, for the program to add. */
export function explainCommand(): Command {
  return new Command('explain')
    .description('tell every decision about an issue')
    .argument('<issue>', 'owner/name#12, 12, or the address of the page', parseIssueAddress)
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action((address: IssueAddress, options: { json?: boolean }, command: Command) =>
      refusing(command, () => explain(address, options.json ?? false)),
    );
}

async function explain(address: IssueAddress, json: boolean): Promise<void> {
  await withStore(async (store) => {
    const record = await findIssue(store, address);
    const task = await latestTask(store, record);
    const text = json ? JSON.stringify(toJson(record, task), null, 2) : toText(record, task);
    process.stdout.write(`${text}\n`);
  });
}

/** What `--json` tells of a task, in this order; what a task does not have is left out. */
const toldOfTask = [
  ...(['id', 'namespace', 'lane', 'state', 'reason', 'detail', 'run', 'claimedBy', 'progress'] as const),
  ...(['history', 'dispositions', 'proposals'] as const),
];

function toJson({ issue, decisions, waiting, criteria }: IssueRecord, task: Task | null): object {
  if (task === null) return { issue, task: null, waiting, criteria, decisions };
  const told = Object.fromEntries(toldOfTask.map((name) => [name, task[name]]));
  return { issue, task: told, waiting, criteria, decisions };
}

function toText({ issue, decisions, waiting }: IssueRecord, task: Task | null): string {
  const at = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
  const lines = [`${issue.repository}#${issue.number}`];
  if (task !== null) {
    const reason = task.reason === undefined ? '' : ` (${task.reason})`;
    lines.push(`task ${task.id} in ${task.namespace}: ${task.state}${reason}, run ${task.run}`);
    if (task.progress) lines.push(`  ${plainLine(task.progress, 500)}`);
    if (task.detail) lines.push(`  ${plainLine(task.detail, 500)}`);
    for (const past of task.history) {
      lines.push(`  ${at(past.atMs)}  run ${past.run} by ${past.worker}: ${past.outcome}, ${past.detail}`);
    }
  }
  if (waiting.length > 0) lines.push(`waiting for the task to end: ${waiting.join(', ')}`);
  lines.push('decisions:');
  for (const { atMs, event, source, verdict, reason, text } of decisions) {
    lines.push(`  ${at(atMs)}  ${event} (${source})  ${verdict} ${reason}: ${plainLine(text, 500)}`);
  }
  return lines.join('\n');
}
