/** What the broker needs beside the desk: effects and intents, the rendering of notes, and a way to wait. */
import type { Caller, Namespace } from '../../lanes/namespaces.ts';
import type { Criterion } from '../../lanes/records/criteria.ts';
import type { Disposition } from '../../lanes/records/dispositions.ts';
import type { LooseEffect, TaskEffect } from '../../lanes/records/effects.ts';
import type { Task } from '../../lanes/records/tasks.ts';
import type { Desk } from '../hooks/desk/port.ts';
import type { NoteInput } from './note/index.ts';

/** An effect with its place in its stream; null where it cannot be read. */
export interface Entry<E> {
  readonly id: string;
  readonly effect: E | null;
}

interface ReadOptions {
  readonly count: number;
}

/** The verbs of the engine that only the broker uses. */
export interface BrokerEngine {
  readonly effects: {
    read(
      caller: Caller,
      namespace: Namespace,
      afterId: string,
      options: ReadOptions,
    ): Promise<readonly Entry<TaskEffect>[]>;
    ack(caller: Caller, namespace: Namespace, id: string): Promise<void>;
  };
  readonly loose: {
    read(caller: Caller, afterId: string, options: ReadOptions): Promise<readonly Entry<LooseEffect>[]>;
    ack(caller: Caller, id: string): Promise<void>;
  };
  readonly intents: {
    get(caller: Caller, key: string): Promise<unknown>;
    put(caller: Caller, key: string, value: unknown): Promise<void>;
  };
  settle(
    caller: Caller,
    namespace: Namespace,
    id: string,
    input: (
      | { readonly to: 'complete' }
      | { readonly to: 'parked'; readonly reason: 'criteria_changed'; readonly detail: string }
    ) & {
      readonly criteria?: readonly Criterion[] | undefined;
      readonly dispositions?: Readonly<Record<string, Disposition | null>> | undefined;
    },
  ): Promise<Task>;
}

/** Notes as text: written and signed, and told apart when read back. */
export interface NoteText {
  render(input: NoteInput): string;
  /** Whether a comment by this App is the note of this task with this sequence. */
  isNote(body: string, task: string, sequence: number): boolean;
}

export interface BrokerDeps {
  readonly desk: Desk;
  readonly engine: BrokerEngine;
  /** The namespaces whose tasks' effects are delivered. */
  readonly namespaces: readonly Namespace[];
  readonly notes: NoteText;
  /** Waits; ends early when the signal aborts. */
  readonly sleep: (ms: number) => Promise<void>;
}
