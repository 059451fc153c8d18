/** The fleet API of a running App: tokens, the key of its leases, and the outbox, from the data directory. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import {
  type Engine,
  openUploads,
  openWorkplace,
  usualLeaseTtlMs,
  usualRenewEveryMs,
} from '../../lanes/index.ts';
import type { OperatorConfig } from '../config/operator-file.ts';
import type { Desk } from '../hooks/desk/port.ts';
import { type Fleet, makeFleet } from './index.ts';
import { loadLeaseKey, makeLeaseTexts } from './lease-text.ts';
import type { FleetDeps } from './port.ts';
import { makeTokenCheck } from './token-check.ts';

export interface OpenFleetDeps {
  readonly config: { readonly dataDir: string; readonly workerName: string };
  readonly operator: OperatorConfig;
  readonly engine: Engine;
  readonly desk: Pick<Desk, 'caller'>;
  readonly host: FleetDeps['host'];
  readonly refused: FleetDeps['refused'];
  readonly log: Logger;
}

const lookEveryMs = 500;

/** @throws LaneError `invalid_config`, `disk`. */
export async function openFleet(deps: OpenFleetDeps): Promise<Fleet> {
  const { config, operator, engine, desk, host, refused, log } = deps;
  const { dataDir, workerName } = config;
  const place = await openWorkplace({ dataDir, instance: workerName, now: Date.now, id: randomUUID });
  return makeFleet({
    engine,
    appCaller: desk.caller,
    host,
    lanes: operator.lanes,
    grants: operator.grants,
    expectsBoxes: [...operator.grants.keys()].some((worker) => worker !== workerName),
    tokens: makeTokenCheck(dataDir, log),
    leases: makeLeaseTexts(loadLeaseKey(dataDir)),
    uploads: openUploads(place),
    refused,
    log,
    leaseTtlMs: usualLeaseTtlMs,
    heartbeatEveryMs: usualRenewEveryMs,
    lookEveryMs,
  });
}
