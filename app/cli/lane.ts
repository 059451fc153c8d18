/** `lanekeeper pause` and `resume-lane`: nothing new starts in a lane's namespace until it is resumed. */
import { Command } from 'commander';
import { LaneError, makeCaller, type Namespace } from '../../lanes/index.ts';
import { loadOperatorFile } from '../config/operator-file.ts';
import { readOperatorPath } from '../config.ts';
import { refusing } from './run.ts';
import { withStore } from './store.ts';

const help = `
The lane's namespace stands in the operator's file; lanes that share it are paused and resumed with it. It acts in the
Redis of a running \`lanekeeper start\` (of the same LANES_DATA_DIR), or in LANES_REDIS_URL.
Exit code: 0 done, 1 there is no such lane or Redis does not answer, 2 bad usage.`;

interface Options {
  readonly json?: boolean;
}

/** The command, for the program to add. */
export function pauseCommand(): Command {
  return laneCommand('pause', 'let nothing new start in a lane; runs in hand go on', (lane, options) =>
    withStore(async ({ config, engine }) => {
      const place = placeOf(lane, config.workerName);
      await engine([place.namespace]).pause(makeCaller('cli', [place.namespace]), place.namespace);
      print(options, { ...place, paused: true }, `paused: ${told(place)}`);
    }),
  );
}

/** The command, for the program to add. */
export function resumeLaneCommand(): Command {
  return laneCommand('resume-lane', 'end the pause of a lane', (lane, options) =>
    withStore(async ({ config, engine }) => {
      const place = placeOf(lane, config.workerName);
      const caller = makeCaller('cli', [place.namespace]);
      const woken = await engine([place.namespace]).resumeNamespace(caller, place.namespace);
      const ids = woken.map(({ id }) => id);
      print(options, { ...place, paused: false, woken: ids }, `resumed: ${told(place)}`);
    }),
  );
}

function laneCommand(
  name: string,
  description: string,
  work: (lane: string, options: Options) => Promise<void>,
): Command {
  return new Command(name)
    .description(description)
    .argument('<lane>', "a lane of the operator's file")
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action((lane: string, options: Options, command: Command) =>
      refusing(command, () => work(lane, options)),
    );
}

interface Place {
  readonly namespace: Namespace;
  /** Every lane there. */
  readonly lanes: readonly string[];
}

function placeOf(name: string, workerName: string): Place {
  const { lanes } = loadOperatorFile(readOperatorPath(), workerName);
  const lane = lanes.find((one) => one.name === name);
  if (lane === undefined) {
    const known = lanes.map((one) => one.name).join(', ');
    throw new LaneError('unknown_namespace', `there is no lane ${JSON.stringify(name)}, there is: ${known}`);
  }
  const { namespace } = lane;
  return { namespace, lanes: lanes.filter((one) => one.namespace === namespace).map((one) => one.name) };
}

function told({ namespace, lanes }: Place): string {
  return `${lanes.length === 1 ? 'lane' : 'lanes'} ${lanes.join(', ')} (${namespace})`;
}

function print({ json = false }: Options, value: object, text: string): void {
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : text}\n`);
}
