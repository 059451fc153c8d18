/** `lanekeeper patch`: print the patch of an issue's latest run, as it lies in the outbox of this worker. */
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { findReceipts, LaneError, openPatch, openWorkplace, type Task } from '../../lanes/index.ts';
import { type IssueAddress, parseIssueAddress } from './issue-address.ts';
import { refusing } from './run.ts';
import { findIssue, latestTask, type OpenStore, withStore } from './store.ts';

const help = `
The patch goes to stdout, to be applied with \`git apply\`. It lies on the worker that ran the task; run this there.
Exit code: 0 printed, 1 there is no patch here, 2 bad usage.`;

/** The command, for the program to add. */
export function patchCommand(): Command {
  return new Command('patch')
    .description("print the patch of an issue's latest run")
    .argument('<issue>', 'owner/name#12, 12, or the address of the page', parseIssueAddress)
    .option('--json', 'print what is known of the patch, and not the patch')
    .addHelpText('after', help)
    .action((address: IssueAddress, options: { json?: boolean }, command: Command) =>
      refusing(command, () => withStore((store) => print(store, address, options.json ?? false))),
    );
}

async function print(store: OpenStore, address: IssueAddress, json: boolean): Promise<void> {
  const task = await latestTask(store, await findIssue(store, address));
  if (task === null) throw new LaneError('unknown_task', 'the issue never had a task');
  const { dataDir, workerName } = store.config;
  const place = await openWorkplace({
    dataDir,
    instance: workerName,
    now: Date.now,
    id: () => crypto.randomUUID(),
  });
  const receipt = (await findReceipts(place, task.id)).at(-1);
  if (receipt === undefined) throw new LaneError('unknown_task', whereElse(task, dataDir));
  if (json) process.stdout.write(`${JSON.stringify(receipt, null, 2)}\n`);
  else await pipeline(openPatch(place, receipt), process.stdout, { end: false });
}

function whereElse({ patch, run }: Task, dataDir: string): string {
  if (run === 0) return 'no run of the task has begun yet';
  const where = patch === undefined ? 'the worker that ran it' : `worker ${patch.worker}`;
  return `no patch of the task lies in ${dataDir}; ask on ${where}`;
}
