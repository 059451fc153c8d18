/** What a process tree is asked to be, and how it can end. */
import type { AgentProcess, ContainmentLevel } from '../../records/copies.ts';
import type { ContainedCommand } from '../containment/request.ts';
import type { Frozen } from './freeze.ts';
import type { Tail } from './tail.ts';

export type TreeEnding =
  | { kind: 'exit'; code: number }
  | { kind: 'signal'; signal: string }
  | { kind: 'timeout'; afterMs: number }
  | { kind: 'stopped'; why: string }
  | { kind: 'spawn_failed'; why: string };

export interface TreeResult {
  ending: TreeEnding;
  stdout: Tail;
  stderr: Tail;
}

/** Why what runs beside a tree is told to end. */
export const RUN_OVER = 'run_over';

/** What may be done with a tree that runs. */
export interface LiveTree {
  /** Stops every process of it. Throws LaneError `capture_failed` where that cannot be done. */
  freeze(): Promise<Frozen>;
}

export interface TreeRequest {
  command: ContainedCommand;
  level: ContainmentLevel;
  /** Unique for this command, such as the copy's id; found again in the environment of everything it starts. */
  marker: string;
  /** The copy and the io folder: whoever has them open belongs to the run. */
  folders: readonly string[];
  /** Held by the tree for as long as any process of it has the descriptor. */
  agentLock: string;
  /** Becomes standard input; without it there is none. */
  stdinFile?: string;
  timeoutMs: number;
  /** Between SIGINT and SIGKILL. */
  graceMs: number;
  /** Ends the run early; its reason becomes `why`. */
  signal: AbortSignal;
  /** Told once the process exists, before anything is waited for. */
  spawned(agent: AgentProcess): Promise<void>;
  /**
   * Runs beside the tree. `over` aborts when the tree has ended or is to be ended; that waits until this has resolved.
   */
  beside?(tree: LiveTree, over: AbortSignal): Promise<void>;
  /** Told before each kill of ours. */
  killIntent(signal: string, why: string): Promise<void>;
}
