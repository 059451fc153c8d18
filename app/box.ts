/**
 * The box: the composition root of `lanekeeper box`, a worker without Redis and without GitHub's credentials. It claims
 * over HTTP as itself, and runs what it is given as every worker does.
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import {
  openInHand,
  openWorkplace,
  probeContainment,
  superviseRun,
  tryLock,
  type Workplace,
} from '../lanes/index.ts';
import { agentNames } from './config/agent-names.ts';
import type { BoxConfig } from './config/elsewhere.ts';
import { ConfigError } from './config/problems.ts';
import { networkEnvironment, workerEnvironment } from './config.ts';
import { type BoxStay, stay } from './fleet-client/box-loop.ts';
import { type BoxParts, goOn } from './fleet-client/box-run.ts';
import { makeFleetClient } from './fleet-client/client.ts';
import { keepSwept } from './keep-swept.ts';
import { agentGraceMs, promptTemplate } from './work-settings.ts';

const id = (): string => randomBytes(16).toString('hex');

/**
 * Serves until there is no work for the TTL, `stop` aborts, or the one task is done.
 * @throws LaneError where the box cannot begin, is shut out, or cannot understand the App.
 */
export async function runBox(
  config: BoxConfig,
  what: BoxStay,
  log: Logger,
  stop: AbortSignal,
): Promise<void> {
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  // Two boxes in one folder would both go on with what an earlier one has in hand.
  const lock = await tryLock(join(config.dataDir, 'box.lock'));
  if (lock === null) throw new ConfigError([`LANES_DATA_DIR: another box works in ${config.dataDir}.`]);
  try {
    const parts = await makeParts(config, log);
    log.info({ namespace: what.namespace }, 'the box serves');
    // First of all: the lease of what was left does not wait.
    await goOn(parts, stop);
    await whileSwept(parts.place, log, stop, () => stay(parts, what, stop));
  } finally {
    await lock.release();
  }
}

/** What died before us is swept before anything new is taken, and again and again until the work ends. */
async function whileSwept(
  place: Workplace,
  log: Logger,
  stop: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  const ending = new AbortController();
  const swept = await keepSwept({ place, log, stop: AbortSignal.any([stop, ending.signal]) });
  try {
    await work();
  } finally {
    ending.abort();
    await swept.ended;
  }
}

async function makeParts(config: BoxConfig, log: Logger): Promise<BoxParts> {
  const { dataDir, workerName } = config;
  const place = await openWorkplace({ dataDir, instance: workerName, now: Date.now, id });
  let levels: ReturnType<typeof probeContainment> | undefined;
  const common = {
    ...{ place, hide: [], graceMs: agentGraceMs },
    networkEnv: networkEnvironment(),
    promptTemplate: promptTemplate(),
  };
  return {
    client: makeFleetClient(config),
    place,
    inHand: openInHand(place),
    supervise: async (ports, lane, order) => {
      levels ??= probeContainment(place.dataDir);
      const worker = workerEnvironment(agentNames([lane]));
      return superviseRun({ ...common, ...ports, worker, levels: await levels }, order);
    },
    log: (message, about) => log.info(about ?? {}, message),
  };
}
