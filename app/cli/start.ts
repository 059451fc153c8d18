/** `lanekeeper start`: App, broker, keeper and a worker, until SIGTERM or SIGINT. What stops it is one clear line. */
import { Command } from 'commander';
import pino, { type Logger } from 'pino';
import type { AppCredentials } from '../config/credentials.ts';
import { loadOperatorFile } from '../config/operator-file.ts';
import { readServerConfig, type ServerConfig } from '../config.ts';
import { registerApp } from '../intake/register/index.ts';
import { startServer } from '../server.ts';
import { sayWhy } from './run.ts';
import { aborted, graceMs, hearSignals } from './signals.ts';

const help = `
Settings come from the environment and from lanekeeper.yml; see docs/configuration.md. Without APP_ID a set-up page
registers the App. SIGTERM or SIGINT stops intake, lets runs finish for ${graceMs / 1000} s and hands the rest back; a second
one hands them back at once. Exit code: 0 stopped, 1 something ended it, 2 it could not start.`;

/** The command, for the program to add. */
export function startCommand(): Command {
  return new Command('start')
    .description('run the App with a worker on this machine')
    .addHelpText('after', help)
    .action(async () => {
      process.exitCode = await start();
      process.exit();
    });
}

async function start(): Promise<number> {
  const { stop, hurry } = hearSignals();
  try {
    const config = readServerConfig();
    const log = pino({ level: config.logLevel }, pino.destination(2));
    for (const warning of config.warnings) log.warn(warning);
    return await run(config, log, stop, hurry);
  } catch (error) {
    if (stop.aborted && error === stop.reason) return 0;
    sayWhy('lanekeeper', error);
    return 2;
  }
}

async function run(
  config: ServerConfig,
  log: Logger,
  stop: AbortSignal,
  hurry: AbortSignal,
): Promise<number> {
  const operator = loadOperatorFile(config.operatorFile, config.workerName);
  const credentials = config.credentials ?? (await register(config, stop));
  const server = await startServer({ config, credentials, operator, log });
  process.stdout.write(`Lanekeeper is ready on ${server.url}\n`);
  const why = await Promise.race([server.failed, aborted(stop)]);
  log.info({ why }, 'stopping');
  // Without Redis no run can record how it ended: there is nothing to wait for.
  const wait = stop.aborted && !hurry.aborted;
  await server.stop(wait ? graceMs : 0, hurry);
  return stop.aborted ? 0 : 1;
}

async function register(config: ServerConfig, signal: AbortSignal): Promise<AppCredentials> {
  return await registerApp({ ...config, signal, announce: (line) => process.stdout.write(`${line}\n`) });
}
