#!/usr/bin/env node
/** An agent that has work on the disk and is not done: it is cut short in the middle, with nothing delivered yet. */
import { writeFileSync } from 'node:fs';

writeFileSync('src/report.js', 'export const report = () => "forty minutes of work";\n');
setInterval(() => {}, 60_000);
