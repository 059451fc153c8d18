/**
 * The one table of errors that cross a room's wall. A code is stable: callers, HTTP answers and the ledger use it;
 * the text says what to do and may change.
 */

interface ErrorKind {
  /** HTTP status that the fleet API answers with. */
  readonly status: number;
  /** Whether the same call may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** What it means and what to do, for a person. */
  readonly message: string;
}

export const errorTable = {
  identity_required: {
    status: 401,
    retryable: false,
    message: 'The caller has no identity. Present a credential that names one.',
  },
  fleet_queue_off_limits: {
    status: 403,
    retryable: false,
    message: 'This is a fleet namespace: it has exactly one drainer, and the caller is not it.',
  },
  namespace_not_granted: {
    status: 403,
    retryable: false,
    message: "This namespace is not granted to the caller. Grant it under `grants` in the operator's file.",
  },
  unknown_namespace: {
    status: 404,
    retryable: false,
    message:
      "No lane or broker has this namespace. Check the spelling, or add the lane to the operator's file.",
  },
  lease_lost: {
    status: 409,
    retryable: false,
    message: 'The lease of this run has ended or was never valid. Stop working on it; nothing was changed.',
  },
  task_conflict: {
    status: 409,
    retryable: true,
    message: 'The task changed meanwhile. Read it again and decide again.',
  },
  unknown_issue: {
    status: 404,
    retryable: false,
    message: 'Nothing can be told of this issue.',
  },
  wrong_state: {
    status: 409,
    retryable: false,
    message: 'The task is in a state in which this cannot be done. Look at its status first.',
  },
  unknown_task: {
    status: 404,
    retryable: false,
    message: 'There is no such task in this namespace.',
  },
  store_unavailable: {
    status: 503,
    retryable: true,
    message: 'Redis did not answer in time. Nothing was accepted; try again.',
  },
  store_refused: {
    status: 403,
    retryable: false,
    message: "Redis refused the command for this user. Check the namespace's credentials.",
  },
  invalid_request: {
    status: 400,
    retryable: false,
    message: 'The request is not what this call takes. Correct what the details name.',
  },
  not_found: {
    status: 404,
    retryable: false,
    message: 'There is nothing here.',
  },
  internal: {
    status: 500,
    retryable: true,
    message: 'Something went wrong here. It is in the log.',
  },
  invalid_config: {
    status: 422,
    retryable: false,
    message: 'The configuration cannot be used. Correct what the details name and start again.',
  },
  invalid_delivery: {
    status: 400,
    retryable: false,
    message: 'The webhook delivery is not what GitHub sends for this event. Nothing was done.',
  },
  invalid_result: {
    status: 422,
    retryable: false,
    message: 'The result file is missing or is not a valid result. See the agent contract in the README.',
  },
  proof_unverified: {
    status: 422,
    retryable: false,
    message: 'The evidence could not be verified by the host.',
  },
  unreadable_body: {
    status: 422,
    retryable: false,
    message: 'The issue body is too long, too deeply nested or too slow to read. Simplify it.',
  },
  invalid_note: {
    status: 422,
    retryable: false,
    message: 'This is not an agent note, or its machine block is damaged.',
  },
  disk: {
    status: 507,
    retryable: true,
    message: 'The disk refused a write. Free space or mend it; the copy and its work are kept.',
  },
  copy_failed: {
    status: 500,
    retryable: true,
    message: 'The isolation copy could not be made.',
  },
  copy_in_use: {
    status: 409,
    retryable: true,
    message:
      'Somebody holds this copy: its owner lives, a sweep is at it, or processes of its run are alive.',
  },
  not_quarantined: {
    status: 409,
    retryable: false,
    message:
      'Only a quarantined copy can be released, exported or removed by hand. The sweep sees to others.',
  },
  capture_failed: {
    status: 500,
    retryable: true,
    message: 'The patch could not be taken out of the isolation copy. The copy and its work are kept.',
  },
  tree_not_ended: {
    status: 500,
    retryable: false,
    message: 'Processes of the run could not be ended. Its copy is kept; end them by hand, then sweep.',
  },
  git_failed: {
    status: 502,
    retryable: true,
    message: 'Git did not succeed.',
  },
  empty_repository: {
    status: 422,
    retryable: false,
    message: 'The repository has no commits yet. Push a first commit, then resume.',
  },
  agent_unavailable: {
    status: 500,
    retryable: false,
    message: "The lane's agent could not be started. Check the lane's `agent.run` on the worker.",
  },
  containment_unavailable: {
    status: 500,
    retryable: false,
    message:
      'No containment works on this worker. Install bubblewrap, or say `containment: none` in the lane.',
  },
  app_unreachable: {
    status: 503,
    retryable: true,
    message: 'The App did not answer. It is asked again.',
  },
  github_failed: {
    status: 502,
    retryable: true,
    message: 'GitHub did not do what was asked. It is tried again.',
  },
  github_unavailable: {
    status: 503,
    retryable: true,
    message: 'GitHub cannot be asked now. The run was given back and does not count; ask again later.',
  },
  github_gone: {
    status: 410,
    retryable: false,
    message: 'The issue or repository is gone, or the App may not see it any more.',
  },
} as const satisfies Record<string, ErrorKind>;

export type LaneErrorCode = keyof typeof errorTable;

/** A refusal or failure with a stable code. `details` adds the particulars; it never holds a secret. */
export class LaneError extends Error {
  readonly code: LaneErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  /** The particulars alone. */
  readonly details: string | undefined;

  constructor(code: LaneErrorCode, details?: string, options?: { cause?: unknown }) {
    const kind = errorTable[code];
    super(details === undefined ? kind.message : `${kind.message} (${details})`, options);
    this.name = 'LaneError';
    this.code = code;
    this.details = details;
    this.status = kind.status;
    this.retryable = kind.retryable;
  }
}

/**
 * The error that another process answered with. Its words are taken as they are: they hold the table's text, and
 * particulars which only it knows.
 */
export function toldError(code: LaneErrorCode, words: string): LaneError {
  const error = new LaneError(code);
  error.message = words;
  return error;
}

/** Whether `error` is a LaneError, with this code where one is given. */
export function isLaneError(error: unknown, code?: LaneErrorCode): error is LaneError {
  return error instanceof LaneError && (code === undefined || error.code === code);
}

/** Whether a text that came from another process is a code of the table. */
export function isLaneErrorCode(code: string): code is LaneErrorCode {
  return Object.hasOwn(errorTable, code);
}
