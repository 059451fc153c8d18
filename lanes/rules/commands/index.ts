/** Commands on an issue: read from comments, then decided. Pure. */
export { maxCommands, parseCommands } from './parse.ts';
export { type CommandInput, planCommand } from './plan.ts';
export type {
  Command,
  CommandAnswer,
  CommandProblem,
  IssueCheck,
  NamedEvidence,
  ParsedCommand,
  Plan,
} from './types.ts';
