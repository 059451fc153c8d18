// An agent that tries to see and to change what it must not. It says what it got, as JSON on stdout.
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const wanted = JSON.parse(process.argv[2]);
const attempt = (work) => {
  try {
    return work() ?? true;
  } catch (error) {
    return { refused: error.code ?? String(error.status ?? error.message) };
  }
};
const got = (value) => value !== null && !(typeof value === 'object' && 'refused' in value);
const run = (file, ...args) =>
  attempt(() => execFileSync(file, args, { stdio: 'pipe', timeout: 5000 }).toString());

const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
const environments = pids
  .map((pid) => attempt(() => readFileSync(`/proc/${pid}/environ`, 'latin1')))
  .filter(got);
const connected = (target) =>
  new Promise((resolve) => {
    const socket = connect(target);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

const fdsOfOne = attempt(() => readdirSync('/proc/1/fd'));
const linksOfOne = got(fdsOfOne)
  ? fdsOfOne.map((fd) => attempt(() => readlinkSync(`/proc/1/fd/${fd}`))).filter(got)
  : [];

const report = {
  processes: pids.length,
  seenSecrets: environments.filter((text) => text.includes(wanted.secret)).length,
  read: wanted.read.filter(
    (path) => got(attempt(() => readFileSync(path))) || got(attempt(() => readdirSync(path)[0] ?? null)),
  ),
  written: wanted.write.filter((path) => got(attempt(() => writeFileSync(path, 'owned')))),
  opened: wanted.locks.filter((path) => got(attempt(() => closeSync(openSync(path, 'r'))))),
  processOne: [
    ...['/proc/1/mem', ...wanted.read.map((path) => `/proc/1/root${path}`)].filter((path) =>
      got(attempt(() => readFileSync(path))),
    ),
    ...linksOfOne.filter((link) => /^\/(?!dev\/null|.*agent\.lock$)/.test(link)),
  ],
  commands: Object.entries({
    umount: ['umount', '/tmp'],
    umountCopy: ['umount', process.cwd()],
    mount: ['mount', '-t', 'tmpfs', 'none', '/usr'],
    remount: ['mount', '-o', 'remount,rw,bind', '/'],
    remountProc: ['mount', '-o', 'remount,rw,bind', '/proc/sys'],
    nsenter: ['nsenter', '-t', '1', '-m', 'true'],
    unshare: ['unshare', '-U', '-r', '-m', 'true'],
    chroot: ['chroot', '/usr', '/bin/true'],
    mknod: ['mknod', 'disk', 'b', '254', '0'],
    chown: ['chown', '1:1', '.'],
  })
    .filter(([, command]) => got(run(...command)))
    .map(([name]) => name),
  blockDevices: readdirSync('/dev').filter((name) => /^(?:[hsv]d|nvme|mem|kmsg|loop)/.test(name)),
  killed: got(attempt(() => process.kill(wanted.victim, 'SIGKILL'))),
  descriptors: readdirSync('/proc/self/fd').map((fd) => attempt(() => readlinkSync(`/proc/self/fd/${fd}`))),
  status: readFileSync('/proc/self/status', 'utf8'),
  connected: [],
  port: await connected(wanted.port),
  works: {
    git: run('git', 'log', '--oneline'),
    copy: attempt(() => writeFileSync('made-by-agent.txt', 'x')),
    io: attempt(() => writeFileSync(wanted.result, 'x')),
    temporary: attempt(() => writeFileSync(join(tmpdir(), 'x'), 'x')),
    tmp: attempt(() => mkdirSync('/tmp/lanekeeper-agent-was-here')),
    shm: attempt(() => writeFileSync('/dev/shm/x', 'x')),
    devNull: attempt(() => writeFileSync('/dev/null', 'x')),
  },
};
for (const path of wanted.sockets) if (await connected(path)) report.connected.push(path);
process.stdout.write(JSON.stringify(report));
