/** Where a worker keeps its copies and who it is: the few things that every room under `work/` is handed. */
import { mkdir, realpath, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Owner } from '../records/copies.ts';
import { onDisk } from './files.ts';
import { ownIdentity } from './identity.ts';
import { type MachineLedger, openMachineLedger } from './machine-ledger.ts';

/** A named point in the life of a copy: what tests stop or kill the process at. */
export type Point = (name: string) => Promise<void> | void;

export interface Workplace {
  dataDir: string;
  ctlDir: string;
  workDir: string;
  graveDir: string;
  mirrorsDir: string;
  outboxDir: string;
  tombstonesDir: string;
  /** The kind of file system that the copies lie on, or its number where it has no name here. */
  fsType: string;
  owner: Owner;
  ledger: MachineLedger;
  now: () => number;
  id: () => string;
  point: Point;
}

export interface WorkplaceOptions {
  dataDir: string;
  instance: string;
  now: () => number;
  id: () => string;
  point?: Point;
}

/** Kernel numbers of the file systems on which flock is a local kernel lock (statfs(2)). */
const FILE_SYSTEMS = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x01021994, 'tmpfs'],
  [0x794c7630, 'overlay'],
]);

/** Makes the folders (0700) and resolves them. Throws LaneError `disk`. */
export async function openWorkplace(options: WorkplaceOptions): Promise<Workplace> {
  const { now, id, instance } = options;
  return await onDisk(`cannot set up ${options.dataDir}`, async () => {
    await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
    const dataDir = await realpath(options.dataDir);
    const folders = {
      ctlDir: join(dataDir, 'copies', 'ctl'),
      workDir: join(dataDir, 'copies', 'work'),
      graveDir: join(dataDir, 'copies', 'grave'),
      mirrorsDir: join(dataDir, 'mirrors'),
      outboxDir: join(dataDir, 'outbox'),
      tombstonesDir: join(dataDir, 'tombstones'),
    };
    for (const folder of [...Object.values(folders), join(folders.outboxDir, 'tmp')]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    const { type } = await statfs(dataDir);
    const owner = { ...(await ownIdentity()), uuid: id(), instance };
    const ledger = openMachineLedger(join(dataDir, 'ledger'));
    const fsType = FILE_SYSTEMS.get(type) ?? String(type);
    return { dataDir, ...folders, fsType, owner, ledger, now, id, point: options.point ?? (() => {}) };
  });
}
