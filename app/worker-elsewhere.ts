/**
 * The composition root of `lanekeeper worker`: the same worker child as `start` keeps, on a machine that has the Redis
 * users of its namespaces and the App's address, and nothing of GitHub. What it asks of the App goes over HTTP.
 */
import type { Logger } from 'pino';
import { addressOf, isLaneError } from '../lanes/index.ts';
import { makeHostClient } from './child/host-client.ts';
import { type KeptWorker, keepWorker } from './child/keep-worker.ts';
import type { Bootstrap } from './child/messages.ts';
import { agentNames } from './config/agent-names.ts';
import type { WorkerConfig } from './config/elsewhere.ts';
import { loadOperatorFile } from './config/operator-file.ts';
import { ConfigError } from './config/problems.ts';
import { demandCredentials, readCredentialsFile } from './config/redis-credentials.ts';
import { networkEnvironment, workerEnvironment } from './config.ts';
import { type FleetClient, makeFleetClient } from './fleet-client/client.ts';

/**
 * Starts the worker, and resolves when it serves.
 * @throws LaneError `invalid_config`, `identity_required` and others, with one clear line: it cannot begin.
 */
export async function startWorkerElsewhere(config: WorkerConfig, log: Logger): Promise<KeptWorker> {
  const bootstrap = bootstrapOf(config);
  const client = makeFleetClient(config);
  await knock(client, log);
  const host = makeHostClient((request) => {
    const failed = (error: unknown) => {
      const code = isLaneError(error) ? error.code : 'github_failed';
      const details = error instanceof Error ? error.message : String(error);
      host.take({ seq: request.seq, answer: 'error', code, details });
    };
    client.host(request).then(host.take, failed);
  });
  const refused = (batch: object): void => log.warn(batch, 'the worker was refused');
  const worker = keepWorker({ bootstrap, host, refused, log });
  try {
    await worker.serving;
  } catch (error) {
    await worker.stop(0);
    throw error;
  }
  return worker;
}

function bootstrapOf(config: WorkerConfig): Bootstrap {
  const { workerName, credentialsFile, dataDir, logLevel } = config;
  const { lanes, registry, grants } = loadOperatorFile(config.operatorFile, workerName);
  const namespaces = grants.get(workerName) ?? [];
  if (namespaces.length === 0) {
    throw new ConfigError([
      `The operator's file grants nothing to ${workerName}: name it under grants, or set LANES_WORKER_NAME.`,
    ]);
  }
  const credentials = readCredentialsFile(credentialsFile);
  demandCredentials(credentialsFile, credentials, namespaces);
  return {
    ...{ identity: workerName, namespaces: [...namespaces], registry: [...registry], lanes: [...lanes] },
    // Whoever the address logs in as, this worker does not.
    redis: { address: addressOf(config.redisUrl), credentials },
    ...{ dataDir, hide: [credentialsFile], logLevel },
    environment: workerEnvironment(agentNames(lanes)),
    networkEnvironment: networkEnvironment(),
  };
}

/** Whether the App knows the token. One that is away now is waited for by every run. */
async function knock(client: FleetClient, log: Logger): Promise<void> {
  try {
    await client.pending();
  } catch (error) {
    if (!isLaneError(error) || !error.retryable) throw error;
    log.warn({ why: error.message }, 'the App cannot be asked now');
  }
}
