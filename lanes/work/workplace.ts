/** Where a worker keeps its copies and who it is: the few things that every room under `work/` is handed. */
import { mkdir, realpath, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Owner } from '../records/copies.ts';
import { type Files, files, makeFiles, onDisk, type SyncFile } from './files.ts';
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
  files: Files;
  now: () => number;
  id: () => string;
  point: Point;
  /** How copies that a broken disk kept from their end get there, by their ids: see `left-over.ts`. */
  leftOver: Map<string, () => Promise<void>>;
}

export interface WorkplaceOptions {
  dataDir: string;
  instance: string;
  now: () => number;
  id: () => string;
  point?: Point;
  /** Default: the system's fsync. */
  sync?: SyncFile;
}

/** Kernel numbers of the file systems on which flock is a local kernel lock (statfs(2)). */
const FILE_SYSTEMS = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x01021994, 'tmpfs'],
  [0x794c7630, 'overlay'],
]);

/** The name of a file system, by its number of statfs(2), on which a copy's locks can be relied on; else null. */
export function fileSystemName(type: number): string | null {
  return FILE_SYSTEMS.get(type) ?? null;
}

/** Makes the folders (0700) and resolves them. Throws LaneError `disk`. */
export async function openWorkplace(options: WorkplaceOptions): Promise<Workplace> {
  const { now, id, instance } = options;
  return await onDisk(`cannot set up ${options.dataDir}`, async () => {
    await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
    const dataDir = await realpath(options.dataDir);
    const paths = {
      ctlDir: join(dataDir, 'copies', 'ctl'),
      workDir: join(dataDir, 'copies', 'work'),
      graveDir: join(dataDir, 'copies', 'grave'),
      mirrorsDir: join(dataDir, 'mirrors'),
      outboxDir: join(dataDir, 'outbox'),
      tombstonesDir: join(dataDir, 'tombstones'),
    };
    for (const folder of [...Object.values(paths), join(paths.outboxDir, 'tmp')]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    const { type } = await statfs(dataDir);
    const owner = { ...(await ownIdentity()), uuid: id(), instance };
    const durable = options.sync ? makeFiles(options.sync) : files;
    const ledger = openMachineLedger(join(dataDir, 'ledger'), durable);
    const fsType = fileSystemName(type) ?? String(type);
    const point = options.point ?? (() => {});
    return { dataDir, ...paths, fsType, owner, ledger, files: durable, now, id, point, leftOver: new Map() };
  });
}
