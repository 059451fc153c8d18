/** What is on record of one copy, also of one that is gone: `lanekeeper copies show`. */
import {
  type CopyListing,
  LaneError,
  listCopies,
  type Receipt,
  readReceipt,
  readTombstone,
  type Tombstone,
  type Workplace,
} from '../../lanes/index.ts';
import { columns, size, span } from './show.ts';

interface CopyView {
  readonly id: string;
  /** Null: it is gone, or was never here. */
  readonly copy: CopyListing | null;
  readonly receipts: readonly Receipt[];
  readonly tombstone: Tombstone | null;
  /** Records that are there and cannot be read. */
  readonly unreadable: readonly string[];
}

/** @throws LaneError `not_found` where nothing is on record under that id. */
export async function lookAt(place: Workplace, id: string): Promise<{ data: CopyView; text: string }> {
  const unreadable: string[] = [];
  const read = async <T>(what: string, reading: Promise<T>): Promise<T | null> => {
    try {
      return await reading;
    } catch {
      unreadable.push(what);
      return null;
    }
  };
  const copy = (await listCopies(place)).find((one) => one.id === id) ?? null;
  const taken = kinds.map((kind) => read(`the receipt of the ${kind}`, readReceipt(place, id, kind)));
  const receipts = (await Promise.all(taken)).filter((receipt) => receipt !== null);
  const tombstone = await read('the tombstone', readTombstone(place, id));
  if (copy === null && receipts.length === 0 && tombstone === null && unreadable.length === 0) {
    throw new LaneError('not_found', `no copy ${id} is or was in ${place.dataDir}`);
  }
  const view = { id, copy, receipts, tombstone, unreadable };
  return { data: view, text: columns(rowsOf(view)) };
}

function rowsOf({ id, copy, receipts, tombstone, unreadable }: CopyView): Rows {
  return [
    ['copy', copy === null ? `${id} is gone` : id],
    ...(copy === null ? [] : copyRows(copy)),
    ...receipts.flatMap(receiptRows),
    ...(tombstone === null ? [] : tombstoneRows(tombstone)),
    ...unreadable.map((what): Rows[number] => ['damaged', `${what} cannot be read`]),
  ];
}

type Rows = [name: string, value: string][];

const kinds = ['result', 'salvage', 'checkpoint'] as const;

const when = (ms: number) => new Date(ms).toISOString();

/** Who a process is, as a line. */
const named = ({ instance, pid }: { readonly instance: string; readonly pid: number }) =>
  `${instance} pid ${pid}`;

function copyRows({ record, why, ageMs, bytes, state, quarantined }: CopyListing): Rows {
  const rows: Rows = [];
  if (record !== null) {
    const { task, run, fence, namespace, base, branch, owner, agent } = record;
    rows.push(['task', `${task} run ${run} in ${namespace}, fence ${fence}`]);
    rows.push(['base', `${base} (${branch})`]);
    rows.push(['owner', `${named(owner)} on machine ${owner.machineId}, boot ${owner.bootId}`]);
    if (agent !== null) rows.push(['agent', `pid ${agent.pid}, containment ${agent.containment}`]);
  }
  const age = ageMs === null ? '' : `, ${span(ageMs)} old`;
  rows.push(['state', `${state}, ${size(bytes)}${age}`], ['why', why]);
  if (quarantined !== null) {
    const { at, by } = quarantined;
    const since = by === undefined || at === undefined ? '' : ` (${named(by)}, ${when(at)})`;
    rows.push(['quarantine', `${quarantined.why}${since}`]);
  }
  return rows;
}

function receiptRows(receipt: Receipt): Rows {
  const { kind, files, bytes, sha256, ignored, missing, tornPossible, at } = receipt;
  const torn = tornPossible ? '; the machine started again before, the last writes may be cut short' : '';
  return [
    [kind, `${files} files, ${size(bytes)}, ${when(at)}, ${ignored} ignored files left out${torn}`],
    ['', `sha256 ${sha256}`],
    ...missing.map((one): Rows[number] => ['', `not in it: ${one.path} (${one.why})`]),
  ];
}

function tombstoneRows({ reason, phase, by, reapers, priorState, intentAt, doneAt }: Tombstone): Rows {
  const end = doneAt === null ? `${phase} since ${when(intentAt)}` : `done ${when(doneAt)}`;
  return [
    ['removal', `${reason}, ${end}; the copy was ${priorState}`],
    ...(by === null ? [] : [['by', by] satisfies Rows[number]]),
    ...reapers.map((reaper): Rows[number] => ['reaper', `${named(reaper)} on machine ${reaper.machineId}`]),
  ];
}
