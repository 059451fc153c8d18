/** What the broker needs beside the desk: effects and intents, the rendering of notes, and a way to wait. */
import type { Engine, Namespace } from '../../lanes/index.ts';
import type { Desk } from '../hooks/desk/port.ts';
import type { NoteInput } from './note/index.ts';

/** The verbs of the engine that only the broker uses. */
export interface BrokerEngine extends Pick<Engine, 'effects' | 'intents' | 'drainer' | 'settle'> {
  readonly loose: Pick<Engine['loose'], 'read' | 'ack'>;
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
  /** Names this process, in the broker's seat. */
  readonly holder: string;
  /** Waits; ends early when the signal aborts. */
  readonly sleep: (ms: number) => Promise<void>;
}
