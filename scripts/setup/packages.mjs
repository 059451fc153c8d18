/**
 * The npm packages of this checkout: installed with `npm ci` where they are missing or do not fit package-lock.json.
 * Node built-ins only: it runs before anything is installed.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { announce, SetupError } from './report.mjs';

/** Makes sure that `node_modules` fits the lockfile. About 2 ms when it does. */
export function ensurePackages(root) {
  if (packagesFit(root)) return;
  withLock(join(root, '.setup-lock'), () => {
    if (packagesFit(root)) return;
    announce('Installing the npm packages (npm ci). This happens once.');
    install(root);
    remember(root);
  });
}

function packagesFit(root) {
  const modules = join(root, 'node_modules');
  const found = lstatSync(modules, { throwIfNoEntry: false });
  if (found === undefined) return false;
  // A link to another checkout's packages is somebody's choice: it is not ours to replace.
  if (found.isSymbolicLink()) return existsSync(modules);
  const stamp = join(modules, '.lanekeeper-lock');
  if (existsSync(stamp)) return readFileSync(stamp, 'utf8') === lockHash(root);
  if (!installedAsLocked(root)) return false;
  remember(root);
  return true;
}

/** Whether a plain `npm ci` or `npm install` has put exactly the locked versions there, development ones too. */
function installedAsLocked(root) {
  const hidden = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  const installed = JSON.parse(readFileSync(hidden, 'utf8')).packages;
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(locked).every(([path, entry]) => {
    if (path === '') return true;
    const there = installed[path];
    return there === undefined ? entry.optional === true : there.version === entry.version;
  });
}

function install(root) {
  // Under `npm run`, npm tells where it lies; under plain node it is looked up on the PATH.
  const npm = process.env.npm_execpath;
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  const args = [...first, 'ci', '--include=dev', '--no-progress', '--loglevel=error'];
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    throw new SetupError(
      `npm ci did not succeed${error ? `: ${error.message}` : ''}. Run it by hand to see why.`,
    );
  }
}

function remember(root) {
  writeFileSync(join(root, 'node_modules', '.lanekeeper-lock'), lockHash(root));
}

function lockHash(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

/** Two commands started together in a fresh clone must not install over each other. */
function withLock(path, work) {
  while (!tryLock(path)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  try {
    work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** The lock is a symbolic link that names its holder's pid: made in one step, so it is never there without its holder. */
function tryLock(path) {
  try {
    symlinkSync(String(process.pid), path);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const holder = readHolder(path);
  if (holder !== null && !isAlive(holder)) rmSync(path, { force: true });
  return false;
}

function readHolder(path) {
  try {
    return Number(readlinkSync(path));
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
