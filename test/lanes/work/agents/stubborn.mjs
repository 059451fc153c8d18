// An agent that will not end: it ignores SIGINT and SIGTERM, and leaves children in other sessions behind.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

process.on('SIGINT', () => writeFileSync('interrupted', 'yes'));
process.on('SIGTERM', () => {});
const loop = 'trap "" INT TERM HUP; while :; do date +%s%N >"$1"; sleep 0.01; done';
const inherited = { detached: true, stdio: 'ignore' };
spawn('/bin/sh', ['-c', loop, 'x', 'still-written'], inherited).unref();
// Without our marker in its environment, and away from the copy.
if (process.argv[2])
  spawn('/bin/sh', ['-c', `cd /; exec 3>&-; ${loop}`, 'x', process.argv[2]], {
    ...inherited,
    env: { PATH: '/usr/bin:/bin' },
  }).unref();
writeFileSync('ready', 'yes');
if (process.argv[3] === 'stay') setInterval(() => {}, 1000);
