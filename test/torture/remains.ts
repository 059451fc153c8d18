/** What must not remain once every owner is dead and every sweep is through: found by looking at the folders. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { quarantineSchema, type RemovalReason } from '../../lanes/records/copies.ts';
import { type MachineEvent, machineEventSchema } from '../../lanes/records/machine-events.ts';
import { plainGit } from './patches.ts';

export interface Remains {
  /** Folders of copies that are not in quarantine, and files that nothing accounts for. */
  readonly leftovers: readonly string[];
  /** Pins in the mirrors whose copies are gone. */
  readonly leakedPins: readonly string[];
  /** Copies that wait for a person, with the reason. */
  readonly quarantined: readonly string[];
}

export async function findRemains(dataDir: string): Promise<Remains> {
  const copies = join(dataDir, 'copies');
  const quarantined = new Map<string, string>();
  for (const id of await readdir(join(copies, 'ctl'))) {
    const text = await readFile(join(copies, 'ctl', id, 'quarantine.json'), 'utf8').catch(() => null);
    if (text !== null) quarantined.set(id, quarantineSchema.parse(JSON.parse(text)).why);
  }
  const left: string[] = [];
  for (const folder of ['ctl', 'work', 'grave']) {
    left.push(...(await readdir(join(copies, folder))).map((id) => `copies/${folder}/${id}`));
  }
  left.push(...(await strayFiles(dataDir)));
  const waits = (path: string) => [...quarantined.keys()].some((id) => path.includes(id));
  return {
    leftovers: left.filter((path) => !waits(path)),
    leakedPins: await leakedPins(dataDir),
    quarantined: [...quarantined].map(([id, why]) => `${id}: ${why}`),
  };
}

/** Temporary files, and patches or blobs without a receipt: no writer is left who could still need them. */
async function strayFiles(dataDir: string): Promise<string[]> {
  const outbox = await readdir(join(dataDir, 'outbox'));
  const stray = (await readdir(join(dataDir, 'outbox', 'tmp'))).map((name) => `outbox/tmp/${name}`);
  for (const name of outbox) {
    const base = /^(.+?\.(?:result|salvage|checkpoint))\./.exec(name)?.[1];
    const accounted = name === 'tmp' || outbox.includes(`${base}.receipt.json`);
    if (!accounted || name.endsWith('.tmp')) stray.push(`outbox/${name}`);
  }
  const tombstones = await readdir(join(dataDir, 'tombstones'));
  return [
    ...stray,
    ...tombstones.filter((name) => name.endsWith('.tmp')).map((name) => `tombstones/${name}`),
  ];
}

async function leakedPins(dataDir: string): Promise<string[]> {
  const leaked: string[] = [];
  for (const mirror of (await readdir(join(dataDir, 'mirrors'))).filter((name) => name.endsWith('.git'))) {
    const format = '--format=%(refname:lstrip=2)';
    const pins = await plainGit(join(dataDir, 'mirrors', mirror), [
      'for-each-ref',
      format,
      'refs/lanekeeper/',
    ]);
    const ids = pins.split('\n').filter((id) => id !== '');
    leaked.push(...ids.filter((id) => !existsSync(join(dataDir, 'copies', 'ctl', id))));
  }
  return leaked;
}

export interface LedgerTally {
  readonly byReason: Readonly<Partial<Record<RemovalReason, number>>>;
  /** Runs whose agent started and of whose end the ledger does not say the cause. */
  readonly unattributed: number;
}

export async function tallyLedger(dataDir: string): Promise<LedgerTally> {
  const byReason: Partial<Record<RemovalReason, number>> = {};
  const cause = new Map<string, string>();
  for (const event of await readEvents(join(dataDir, 'ledger'))) {
    if (event.event === 'removed') byReason[event.reason] = (byReason[event.reason] ?? 0) + 1;
    if (event.event === 'run_started' && !cause.has(event.copy)) cause.set(event.copy, 'unattributed');
    if (event.event === 'run_exited') cause.set(event.copy, event.cause);
  }
  const unattributed = [...cause.values()].filter((why) => why === 'unattributed').length;
  return { byReason, unattributed };
}

/** A line that its writer did not live to finish is passed over: the next one begins on a line of its own. */
async function readEvents(folder: string): Promise<MachineEvent[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(names.sort().map((name) => readFile(join(folder, name), 'utf8')));
  return texts.flatMap((text) => text.split('\n')).flatMap((line) => parseLine(line) ?? []);
}

function parseLine(line: string): MachineEvent | null {
  try {
    return machineEventSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
