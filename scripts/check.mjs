/** `npm run check`: lint and format, types, import rules, unused code. Each is announced; the first that is wrong ends it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { announce } from './setup/report.mjs';

const bin = (name) => join('node_modules', '.bin', name);

const steps = [
  { what: 'lint and format', run: [bin('biome'), 'check', '--error-on-warnings', '.'] },
  { what: 'types', run: [bin('tsc'), '--noEmit', '-p', '.'] },
  { what: 'import rules', run: [process.execPath, join('scripts', 'import-rules.mjs')] },
  { what: 'unused files, exports and dependencies', run: [bin('knip')] },
];

/** Runs the checks in `root` and returns the exit code. */
export function check(root) {
  for (const { what, run } of steps) {
    announce(`check: ${what}`);
    const [program, ...args] = run;
    const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
    if (status !== 0) {
      announce(`check: ${what}: wrong`);
      return 1;
    }
  }
  announce('check: all good');
  return 0;
}
