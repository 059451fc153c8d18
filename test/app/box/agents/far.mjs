/**
 * An agent that leaves something, asks the test for leave to go on, then does its work: `far.mjs <address of the gate>`.
 * Where the issue's title asks for much, the work is large.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const { LANES_TASK_FILE, LANES_RESULT_FILE } = process.env;
const task = JSON.parse(readFileSync(LANES_TASK_FILE, 'utf8'));
const { number, title } = task.issue;

writeFileSync('begun.txt', `run ${task.run} of #${number}\n`);
await fetch(`${process.argv[2]}/${number}/${task.run}`);
writeFileSync('done.txt', `run ${task.run} of #${number}\n`);
if (title.includes('much')) {
  const line = () => `${randomBytes(60).toString('hex')}\n`;
  writeFileSync('much.txt', Array.from({ length: 100_000 }, line).join(''));
}

const dispositions = task.criteria.map(({ id }) => ({
  criterion: id,
  disposition: 'met',
  reason: 'Wrote done.txt.',
  evidence: [{ kind: 'check', name: 'unit' }],
}));
writeFileSync(LANES_RESULT_FILE, JSON.stringify({ outcome: 'done', summary: 'Did it.', dispositions }));
