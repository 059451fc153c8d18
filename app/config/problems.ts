/** What is wrong with a configuration, said so that a person can mend it: one line for each problem. */
import { LaneError } from '../../lanes/index.ts';

/** A problem in a text, with the place where it lies. Lines and columns count from 1. */
export interface Problem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** `invalid_config`, with every problem as a line of its own. */
export class ConfigError extends LaneError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: { cause?: unknown }) {
    super('invalid_config', problems.join('; '), options);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Whether `error` is a ConfigError. */
export function isConfigError(error: unknown): error is ConfigError {
  return error instanceof ConfigError;
}
