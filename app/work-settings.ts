/** What every worker of ours runs agents with, wherever it stands. */
import { readFileSync } from 'node:fs';
import { packageFile } from './package-root.ts';

/** How long an agent has to end by itself after SIGINT, in ms. */
export const agentGraceMs = 5_000;

/** The Liquid text that an agent's prompt is made from. */
export function promptTemplate(): string {
  return readFileSync(packageFile('templates/prompts/task.md'), 'utf8');
}
