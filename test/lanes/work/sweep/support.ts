/** What the tests of sweeps share: copies whose owner is dead, without the cost of a process for each. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Owner, Tombstone } from '../../../../lanes/records/copies.ts';
import { tombstoneSchema } from '../../../../lanes/records/copies.ts';
import { mirrorPath } from '../../../../lanes/work/mirror.ts';
import type { Workplace } from '../../../../lanes/work/workplace.ts';
import { sh } from '../support.ts';

/** Larger than any process number that Linux gives. */
const NO_PID = 2 ** 22 + 1;

/** The same data directory in the hands of a process that does not exist any more. */
export function deadPlace(place: Workplace, changes: Partial<Owner> = {}): Workplace {
  return { ...place, owner: { ...place.owner, pid: NO_PID, uuid: randomUUID(), ...changes } };
}

export function tombstoneOf(place: Workplace, id: string): Tombstone {
  return tombstoneSchema.parse(JSON.parse(readFileSync(join(place.tombstonesDir, `${id}.json`), 'utf8')));
}

/** What a finished removal leaves of a copy: nothing but tombstone, ledger and outbox. */
export function leftOf(place: Workplace): string[] {
  const folders = [place.ctlDir, place.workDir, place.graveDir, join(place.outboxDir, 'tmp')];
  const pins = sh(mirrorPath(place, 7), 'git', 'for-each-ref', '--format=%(refname)', 'refs/lanekeeper/');
  return [...folders.flatMap((folder) => readdirSync(folder)), ...pins.split('\n').filter(Boolean)];
}

/** The events of the machine's ledger about a copy, in order. */
export function eventsOf(place: Workplace, copy: string) {
  const folder = join(place.dataDir, 'ledger');
  const lines = readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').trim().split('\n'),
  );
  return lines.map((line) => JSON.parse(line)).filter((event) => event.copy === copy);
}
