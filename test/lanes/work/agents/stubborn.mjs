// An agent that will not end: it ignores SIGINT and SIGTERM, and leaves children in other sessions behind. Each of
// them writes its number, and can be found by one trace only.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

process.on('SIGINT', () => writeFileSync('interrupted', 'yes'));
process.on('SIGTERM', () => {});
const [pidsFolder, ...kinds] = process.argv.slice(2);
const plain = { PATH: '/usr/bin:/bin' };
const environments = { marked: undefined, inCopy: plain, child: plain };

for (const kind of ['marked', 'inCopy', 'child'].filter((name) => kinds.includes(name))) {
  const place = kind === 'inCopy' ? '.' : '/';
  const loop = `trap "" INT TERM HUP; exec 3>&-; echo $$ >"$1"; cd ${place}; while :; do sleep 1; done`;
  const options = { detached: true, stdio: 'ignore', env: environments[kind] };
  spawn('/bin/sh', ['-c', loop, 'x', `${pidsFolder}/${kind}`], options).unref();
}
writeFileSync('ready', 'yes');
if (kinds.includes('stay')) setInterval(() => {}, 1000);
