/** What a note is rendered from. */
import type { Actor, OpenCriterion, ParkReason, Task } from '../../../lanes/index.ts';

interface NoteFacts {
  /** The task as it was at the transition. */
  readonly task: Task;
  readonly sequence: number;
  /** The person who caused the transition, where there is one. */
  readonly actor?: Actor | undefined;
  readonly app: { readonly id: number; readonly slug: string };
  readonly atMs: number;
  /** What the gate still finds open; empty for complete. */
  readonly open: readonly OpenCriterion[];
  /**
   * What the body has instead of criteria: for `no_criteria` the texts of its task list, to propose; for
   * `only_placeholders` the unfilled lines.
   */
  readonly found?: readonly string[] | undefined;
}

export type NoteInput = NoteFacts &
  (
    | { readonly state: 'parked'; readonly reason: ParkReason }
    | { readonly state: 'resumed' }
    /** `stateReason`: how GitHub shows the closed issue. */
    | { readonly state: 'complete'; readonly stateReason: 'completed' | 'not_planned' }
  );
