/** What the set-up says, always on stderr: stdout belongs to the command. */

/** Something that a person has to do before the command can run. The message says what. */
export class SetupError extends Error {}

/** One line on stderr. */
export function announce(line) {
  process.stderr.write(`lanekeeper: ${line}\n`);
}
