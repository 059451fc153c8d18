/** `lanekeeper retry`: a task that waits after a death may start now; one that has used up its runs gets them again. */
import { Command } from 'commander';
import { LaneError, makeCaller } from '../../lanes/index.ts';
import { type IssueAddress, parseIssueAddress } from './issue-address.ts';
import { refusing } from './run.ts';
import { findIssue, withStore } from './store.ts';

const help = `
It acts in the Redis of a running \`lanekeeper start\` (of the same LANES_DATA_DIR), or in LANES_REDIS_URL. A task that is
parked for a person is not retried: \`/lane resume\` on the issue goes on with it.
Exit code: 0 done, 1 there is nothing to retry or Redis does not answer, 2 bad usage.`;

/** The command, for the program to add. */
export function retryCommand(): Command {
  return new Command('retry')
    .description("let an issue's task start now that waits or has used up its runs")
    .argument('<issue>', 'owner/name#12, 12, or the address of the page', parseIssueAddress)
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action((address: IssueAddress, options: { json?: boolean }, command: Command) =>
      refusing(command, () => retry(address, options.json ?? false)),
    );
}

async function retry(address: IssueAddress, json: boolean): Promise<void> {
  await withStore(async (store) => {
    const { issue, latest } = await findIssue(store, address);
    if (latest === undefined) throw new LaneError('unknown_task', 'the issue never had a task');
    const { namespace, task } = latest;
    const caller = makeCaller('cli', [namespace]);
    const { id, state, run } = await store.engine([namespace]).retry(caller, namespace, task);
    const text = `${issue.repository}#${issue.number}: task ${id} is ${state}; run ${run + 1} may start now`;
    process.stdout.write(`${json ? JSON.stringify({ id, namespace, state, run }, null, 2) : text}\n`);
  });
}
