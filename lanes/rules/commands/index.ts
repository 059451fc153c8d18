/** Commands on an issue: read from comments, then decided. Pure. */
export { maxCommands, parseCommands } from './parse.ts';
export { planCommand } from './plan.ts';
export type {
  Command,
  CommandAnswer,
  ParsedCommand,
  Plan,
} from './types.ts';
