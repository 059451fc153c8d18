/**
 * `node scripts/run.mjs <command…>`: the set-up that the command needs, then the command in our place: its output, its
 * exit code, its signals. `--check` runs the checks instead. Nothing of its own goes to stdout.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check } from './check.mjs';
import { ensurePackages } from './setup/packages.mjs';
import { announce, SetupError } from './setup/report.mjs';
import { ensureTools } from './setup/tools.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const command = process.argv.slice(2);

try {
  ensurePackages(root);
  ensureTools(toolsFor(command));
  if (command[0] === '--check') process.exitCode = check(root);
  else become(command);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  announce(error.message);
  process.exitCode = 1;
}

/** What a command runs on, beside the packages. Reading a file of criteria should not ask for Redis. */
function toolsFor([program, script = '', verb = '']) {
  const redis = process.env.LANES_REDIS_URL ? [] : ['redis'];
  const host = [...redis, 'utilLinux', 'bubblewrap'];
  if (program === 'vitest') return [...host, 'chromium'];
  if (script.startsWith('test/torture/')) return ['utilLinux', 'bubblewrap'];
  if (script.startsWith('test/demo/') || script.startsWith('test/bench/')) return host;
  if (script === 'app/cli/main.ts' && (verb === 'start' || verb === 'worker')) return host;
  return [];
}

/** Runs the command and ends as it ends. */
function become([program, ...args]) {
  if (program === undefined)
    throw new SetupError('Say which command to run: node scripts/run.mjs <command…>');
  const [file, argv] = locate(program, args);
  const child = spawn(file, argv, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // At a terminal, Ctrl-C reaches the whole process group: the child has it already.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    announce(`${program} could not be started: ${error.message}`);
    process.exitCode = 127;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 1;
      return;
    }
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** tsx's own command would stand between the signals and the program; its loader does the same without. */
function locate(program, args) {
  if (program === 'tsx') return [process.execPath, ['--import', import.meta.resolve('tsx'), ...args]];
  const local = join(root, 'node_modules', '.bin', program);
  return [existsSync(local) ? local : program, args];
}
