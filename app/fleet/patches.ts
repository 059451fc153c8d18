/** `patch`: how much of it is here, and the next piece. Memory stays small whatever its size. */
import {
  isLaneError,
  LaneError,
  maxPatchBytes,
  type UploadHead,
  uploadHeaders,
  uploadHeadSchema,
} from '../../lanes/index.ts';
import { type Call, goOn, leaseOf, refuseWith } from './call.ts';
import type { FleetDeps } from './port.ts';

/** HEAD, and GET without a body. */
export async function patchState(deps: FleetDeps, c: Call): Promise<Response> {
  const lease = leaseOf(deps, c);
  await deps.engine.begin(c.get('caller'), lease);
  const { complete, offset } = await deps.uploads.state(lease);
  c.header(uploadHeaders.offset, String(offset));
  if (complete) c.header(uploadHeaders.complete, '?1');
  return c.body(null, 200);
}

export async function putPatch(deps: FleetDeps, c: Call): Promise<Response> {
  const caller = c.get('caller');
  const lease = leaseOf(deps, c);
  const { incoming, outgoing } = c.env;
  const head = readHead(c);
  if (head.length > maxPatchBytes || announced(c) > head.length - head.offset) {
    return refuseWith(c, new LaneError('invalid_result', 'the patch is too long'), 413);
  }
  const stillHeld = () => deps.engine.begin(caller, lease);
  await stillHeld();
  try {
    const body = piecesOf(incoming, () => goOn(incoming, outgoing));
    return c.json(await deps.uploads.append(lease, head, body, stillHeld));
  } catch (error) {
    if (isLaneError(error, 'task_conflict')) {
      c.header(uploadHeaders.offset, String((await deps.uploads.state(lease)).offset));
    }
    throw error;
  }
}

/** The sender's body, asked for when it is first wanted. */
async function* piecesOf(incoming: AsyncIterable<Uint8Array>, begin: () => void): AsyncGenerator<Uint8Array> {
  begin();
  yield* incoming;
}

/** @throws LaneError `invalid_request`. */
function readHead(c: Call): UploadHead {
  const number = (name: string) => {
    const text = c.req.header(name) ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  const parsed = uploadHeadSchema.safeParse({
    offset: number(uploadHeaders.offset),
    length: number(uploadHeaders.length),
    sha256: c.req.header(uploadHeaders.sha256),
  });
  if (parsed.success) return parsed.data;
  throw new LaneError('invalid_request', 'Upload-Offset, Upload-Length and Upload-Sha256 are needed');
}

function announced(c: Call): number {
  return Number(c.req.header('content-length') ?? 0);
}
