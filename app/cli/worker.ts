/** `lanekeeper worker`: a worker on another machine than the App's, until SIGTERM or SIGINT. */
import { Command } from 'commander';
import pino from 'pino';
import { readWorkerConfig } from '../config.ts';
import { startWorkerElsewhere } from '../worker-elsewhere.ts';
import { sayWhy } from './run.ts';
import { aborted, graceMs, hearSignals } from './signals.ts';

const help = `
LANES_REDIS_URL is the address of the Redis, LANES_CREDENTIALS the file with this worker's users, LANES_APP_URL and
LANES_WORKER_TOKEN the way to the App; lanekeeper.yml says what its lanes run. Nothing of GitHub is needed. SIGTERM or
SIGINT lets runs finish for ${graceMs / 1000} s and hands the rest back; a second one hands them back at once. Exit code: 0
stopped, 2 it could not start.`;

/** The command, for the program to add. */
export function workerCommand(): Command {
  return new Command('worker')
    .description('run a worker on another machine than the App')
    .addHelpText('after', help)
    .action(async () => {
      process.exitCode = await work();
      process.exit();
    });
}

async function work(): Promise<number> {
  const { stop, hurry } = hearSignals();
  try {
    const config = readWorkerConfig();
    const log = pino({ level: config.logLevel }, pino.destination(2));
    for (const warning of config.warnings) log.warn(warning);
    const worker = await startWorkerElsewhere(config, log);
    process.stdout.write(`The worker ${config.workerName} serves\n`);
    log.info({ why: await aborted(stop) }, 'stopping');
    hurry.addEventListener('abort', () => void worker.stop(0), { once: true });
    await worker.stop(hurry.aborted ? 0 : graceMs);
    return 0;
  } catch (error) {
    sayWhy('worker', error);
    return 2;
  }
}
