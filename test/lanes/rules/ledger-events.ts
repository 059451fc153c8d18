/** Records of a ledger, for tests of what is counted of them. */

import { type ArchivedEvent, archivedEventSchema, type TaskEvent } from '../../../lanes/records/ledger.ts';
import { type MachineEvent, machineEventSchema } from '../../../lanes/records/machine-events.ts';

const namespace = 'lane:triage';
const sha256 = 'a'.repeat(64);
export const weekStart = Date.parse('2026-08-10T00:00:00Z');

export function owner(name: string) {
  return {
    ...{ pid: 1, startTime: '1', bootId: 'b', pidNs: 'n', machineId: 'm' },
    ...{ uuid: `uuid-${name}`, instance: 'worker-a' },
  };
}

/** An event of the copy `c<run>` of run `run`. */
export function machine(event: MachineEvent['event'], run: number, more: object = {}): MachineEvent {
  const about = { v: 1, at: weekStart + run, machineId: 'm', instance: 'worker-a' };
  const copy = { copy: `c${run}`, task: 'task00000001', namespace, run, fence: run };
  const own = {
    ...{ copy_created: { base: 'b'.repeat(40) }, copy_abandoned: { why: 'w' } },
    run_started: { agent: { pid: 2, startTime: '2', cgroup: '', containment: 'bwrap' } },
    ...{ kill_intent: { signal: 'SIGINT', why: 'timeout' }, capture_failed: { why: 'w' } },
    ...{ run_exited: { cause: 'exit', detail: 'code 0', exitCode: 0 } },
    captured: { kind: 'result', sha256, bytes: 10, partial: false, tornPossible: false },
    removal_refused: { why: 'w' },
    removed: { reason: 'completed', reapers: [owner('a')], sha256 },
    ...{ quarantined: { why: 'w' }, released: { by: 'ann' }, exported: { by: 'ann', sha256 } },
    ...{ worker_kill_intent: {}, refused: {} },
  };
  return machineEventSchema.parse({ ...about, ...copy, event, ...own[event], ...more });
}

let entries = 0;

export function task(event: TaskEvent['event'], run: number, more: object = {}): ArchivedEvent {
  entries += 1;
  return archivedEventSchema.parse({
    ...{ v: 1, epoch: 'e', id: `${weekStart + entries}-0`, part: 0, event, namespace },
    ...{ task: 'task00000001', run, fence: run, by: 'worker-a', detail: '', atMs: weekStart + entries },
    ...more,
  });
}

export function refused(code: string): ArchivedEvent {
  entries += 1;
  return archivedEventSchema.parse({
    ...{ v: 1, epoch: 'e', id: `${weekStart + entries}-0`, part: 0, event: 'refused', namespace: 'agent:42' },
    ...{ verb: 'claim', by: 'warm', code, atMs: weekStart },
  });
}

/** What stands in a machine's ledger of that. */
export function refusedHere(code: string): MachineEvent {
  return machineEventSchema.parse({
    ...{ v: 1, at: weekStart, machineId: 'm', instance: 'worker-a', event: 'refused', namespace: 'agent:42' },
    ...{ verb: 'claim', by: 'warm', code },
  });
}
