/** What can be said to a lane on an issue: one table, for the parser's errors and for `/lane help`. */

export const verbs = [
  'status',
  'park',
  'resume',
  'cancel',
  'met',
  'waive',
  'moved',
  'superseded',
  'na',
  'withdraw',
  'open',
  'accept',
  'help',
] as const;
export type Verb = (typeof verbs)[number];

interface VerbHelp {
  /** How it is written. */
  readonly usage: string;
  /** What it does, in one sentence. */
  readonly does: string;
}

export const verbHelp: Readonly<Record<Verb, VerbHelp>> = {
  status: { usage: '/lane status', does: 'Says where the work stands and what is open.' },
  park: { usage: '/lane park <why>', does: 'Stops the work until somebody resumes it.' },
  resume: {
    usage: '/lane resume [answer]',
    does: 'Goes on with parked work; the agent is given the answer.',
  },
  cancel: { usage: '/lane cancel', does: 'Ends the work. Setting the label again starts anew.' },
  met: {
    usage: '/lane met <id> <evidence>',
    does: 'The criterion is met; the evidence is `check:<name>`, `file:<path>`, a commit, an address, or words.',
  },
  waive: { usage: '/lane waive <id> <why>', does: 'The criterion need not be met.' },
  moved: {
    usage: '/lane moved <id> #<n>',
    does: 'The criterion moved to another open issue of this repository.',
  },
  superseded: {
    usage: '/lane superseded <id> <by>',
    does: 'Another criterion, or an issue `#<n>`, takes its place.',
  },
  na: { usage: '/lane na <id> <why>', does: 'The criterion does not apply.' },
  withdraw: {
    usage: '/lane withdraw <id> <why>',
    does: 'The criterion is taken back by those who asked for it.',
  },
  open: { usage: '/lane open <id>', does: 'Takes a verdict back: the criterion is open again.' },
  accept: { usage: '/lane accept', does: "Accepts all of the agent's proposals as they stand." },
  help: { usage: '/lane help', does: 'Shows this.' },
};
