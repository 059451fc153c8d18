/**
 * The programs of the system that Lanekeeper needs beside Node, npm and git: installed where we are root, else asked
 * for in one line. Node built-ins only.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { announce, SetupError } from './report.mjs';

/** Tool -> the programs it stands for (each inner list: any one of them), and its package per package manager. */
const tools = {
  redis: {
    programs: [['redis-server', 'valkey-server']],
    packages: { 'apt-get': 'redis-server', dnf: 'valkey', apk: 'redis', pacman: 'valkey' },
  },
  utilLinux: {
    programs: [['flock'], ['setpriv'], ['unshare']],
    packages: { 'apt-get': 'util-linux', dnf: 'util-linux', apk: 'util-linux', pacman: 'util-linux' },
  },
  bubblewrap: {
    programs: [['bwrap']],
    packages: { 'apt-get': 'bubblewrap', dnf: 'bubblewrap', apk: 'bubblewrap', pacman: 'bubblewrap' },
  },
  chromium: {
    programs: [['chromium', 'chromium-browser']],
    packages: { 'apt-get': 'chromium', dnf: 'chromium', apk: 'chromium', pacman: 'chromium' },
  },
};

/** Package manager -> the commands that install, in order. */
const installers = {
  'apt-get': (names) => [
    ['apt-get', 'update', '-qq'],
    ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...names],
  ],
  dnf: (names) => [['dnf', 'install', '-y', '-q', ...names]],
  apk: (names) => [['apk', 'add', '--quiet', ...names]],
  pacman: (names) => [['pacman', '-Sy', '--noconfirm', '--needed', ...names]],
};

/**
 * Makes sure that the named tools are on the PATH.
 * @param {('redis' | 'utilLinux' | 'bubblewrap' | 'chromium')[]} names
 */
export function ensureTools(names) {
  const missing = names.filter((name) => !isThere(tools[name]));
  if (missing.length === 0) return;
  const programs = missing.flatMap((name) => tools[name].programs.map((any) => any[0])).join(', ');
  const manager = Object.keys(installers).find((name) => onPath(name));
  if (manager === undefined) throw new SetupError(`These programs are missing: ${programs}. Install them.`);
  const packages = missing.map((name) => tools[name].packages[manager]);
  const commands = installers[manager](packages);
  const byHand = commands.map((command) => command.filter((part) => !/^-q+$/.test(part)).join(' '));
  if (process.getuid?.() !== 0) {
    throw new SetupError(
      `These programs are missing: ${programs}. Run: ${byHand.map((line) => `sudo ${line}`).join(' && ')}`,
    );
  }
  announce(`Installing ${packages.join(', ')} with ${manager}, because ${programs} is missing.`);
  for (const command of commands) run(command, byHand);
  const still = missing.filter((name) => !isThere(tools[name]));
  if (still.length > 0)
    throw new SetupError(`${still.join(', ')} is still missing after: ${byHand.join(' && ')}`);
}

function run([program, ...args], byHand) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status } = spawnSync(program, args, { env, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    throw new SetupError(`${program} did not succeed. Run by hand to see why: ${byHand.join(' && ')}`);
  }
}

function isThere(tool) {
  return tool.programs.every((any) => any.some((program) => onPath(program)));
}

function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
