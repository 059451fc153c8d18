/** What a test's worker child is told, and an App that has nothing to say to it. */

import type { Bootstrap } from '../../../app/child/messages.ts';
import { networkEnvironment, workerEnvironment } from '../../../app/config.ts';
import { type Credentials, fillLane, type HostPort } from '../../../lanes/index.ts';
import { makeRegistry, parseNamespace } from '../../../lanes/namespaces.ts';
import { laneSchema } from '../../../lanes/records/config.ts';

export const namespace = parseNamespace('lane:plain');

/** `worker-a`, granted one lane of checks. */
export function bootstrapFor(dataDir: string, address: string, credentials: Credentials): Bootstrap {
  return {
    identity: 'worker-a',
    namespaces: [namespace],
    registry: [...makeRegistry([namespace])],
    lanes: [fillLane('plain', laneSchema.parse({ agent: { kind: 'checks' } }))],
    redis: { address, credentials },
    dataDir,
    hide: [],
    environment: workerEnvironment([]),
    networkEnvironment: networkEnvironment(),
    logLevel: 'silent',
  };
}

const unasked = () => Promise.reject(new Error('not asked in this test'));
export const silentHost: HostPort = { allowed: unasked, lookUp: unasked };
