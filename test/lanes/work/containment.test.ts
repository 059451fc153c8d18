import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isContained } from '../../../lanes/work/containment/levels.ts';
import { type Containment, chooseContainment, probeContainment } from '../../../lanes/work/containment.ts';
import type { Copy } from '../../../lanes/work/copy.ts';
import { mirrorPath } from '../../../lanes/work/mirror.ts';
import { runTree } from '../../../lanes/work/process-tree.ts';
import type { Workplace } from '../../../lanes/work/workplace.ts';
import { forever, makeCopy, makePlace, makeRemote, put, temporaryFolder } from './support.ts';

const hostile = readFileSync(fileURLToPath(new URL('agents/hostile.mjs', import.meta.url)), 'utf8');
const levels = await probeContainment(temporaryFolder());
const contained = levels.filter(({ level }) => isContained(level));
const secret = 'canary-of-another-process';

let place: Workplace;
let copy: Copy;
let agents: string;
const cleanUps: (() => unknown)[] = [];

beforeEach(async () => {
  place = await makePlace();
  copy = await makeCopy(place, makeRemote({ 'a.txt': 'a' }));
  agents = temporaryFolder();
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function listen(target: string | number): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {})).listen(target);
  await once(server, 'listening');
  cleanUps.push(() => new Promise((resolve) => server.close(resolve)));
  return server;
}

function readOr(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}

function otherProcess(): number {
  const other = spawn('sleep', ['1000'], { env: { SECRET: secret, PATH: '/usr/bin:/bin' }, stdio: 'ignore' });
  cleanUps.push(() => other.kill('SIGKILL'));
  return other.pid ?? 0;
}

async function run(containment: Containment, argv: string[], hide: string[] = [], expose: string[] = []) {
  const { work, io, agentLock } = copy.paths;
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: homedir() };
  const about = { cwd: work, env, copyDir: work, ioDir: io, expose: [copy.borrowedObjects, ...expose] };
  const command = await containment.contain({ argv, ...about, hide: [place.dataDir, ...hide] });
  const times = { timeoutMs: 30_000, graceMs: 1_000, signal: forever };
  const told = { spawned: async () => {}, killIntent: async () => {} };
  const which = { command, level: containment.level, marker: copy.id, folders: [work, io], agentLock };
  return await runTree({ ...which, ...times, ...told });
}

describe.each(contained.map((containment) => [containment.level, containment] as const))(
  'inside %s',
  (_, containment) => {
    it('a folder that is exposed can be read and not written, whatever its name', async () => {
      const names = ['a b', 'a\\b', 'a\nb', 'a\tb', '#a', "a'b"];
      const folders = names.map((name) => join(agents, name));
      for (const folder of folders) put(folder, 'x', 'there ');
      const script = 'for f; do cat "$f/x"; echo changed >"$f/x" && echo written; done; exit 0';
      const result = await run(containment, ['sh', '-c', script, 'sh', ...folders], [], folders);
      expect(result.stdout.text).toBe('there '.repeat(names.length));
      expect(result.ending).toEqual({ kind: 'exit', code: 0 });
      expect(folders.map((folder) => readOr(join(folder, 'x')))).toEqual(names.map(() => 'there '));
    });

    it('an agent sees and changes nothing but its copy and its io folder', async () => {
      const agent = join(agents, 'agent.mjs');
      put(agents, 'agent.mjs', hostile);
      put(agents, 'app-key.pem', 'key');
      put(place.dataDir, 'credentials.json', 'redis');
      put(place.dataDir, '../beside-the-data.txt', 'x');
      const victim = otherProcess();
      const sockets = [join(agents, 'docker.sock'), join(temporaryFolder(), 'redis.sock')];
      for (const path of sockets) await listen(path);
      const address = (await listen(0)).address();
      const mirror = mirrorPath(place, 7);
      const wanted = {
        secret,
        victim,
        sockets,
        port: typeof address === 'object' ? address?.port : 0,
        result: join(copy.paths.io, 'result.json'),
        read: [
          ...[
            join(agents, 'app-key.pem'),
            join(place.dataDir, 'credentials.json'),
            join(mirror, 'config'),
            copy.paths.record,
          ],
          ...[place.outboxDir, place.tombstonesDir, join(place.dataDir, '../beside-the-data.txt')],
          ...['.ssh', '.npmrc', '.gitconfig', '.aws', '.config/gh'].map((name) => join(homedir(), name)),
          ...['/etc/shadow', '/run/dbus', '/proc/kcore', `/proc/${victim}/environ`],
        ],
        write: [
          ...['/etc/owned', '/usr/owned', '/owned', '/opt/owned', '/var/owned', agent, join(agents, 'owned')],
          ...[join(mirror, 'objects', 'owned'), join(mirror, 'config'), join(place.dataDir, 'owned')],
          ...[
            '/proc/sys/kernel/core_pattern',
            '/proc/sys/vm/drop_caches',
            '/proc/sysrq-trigger',
            '/proc/1/oom_score_adj',
          ],
          ...[
            '/sys/kernel/mm/ksm/run',
            '/sys/fs/cgroup/owned',
            '/dev/owned',
            join(dirname(copy.paths.work), 'owned'),
          ],
        ],
        locks: [copy.paths.ownerLock, copy.paths.agentLock],
      };
      const corePattern = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
      const node = [process.execPath, agent, JSON.stringify(wanted)];
      const result = await run(containment, node, [join(agents, 'app-key.pem')]);
      expect(result.stderr.text).toBe('');
      expect(result.ending).toEqual({ kind: 'exit', code: 0 });
      const report = JSON.parse(result.stdout.text);
      const nothing = {
        seenSecrets: 0,
        read: [],
        opened: [],
        processOne: [],
        commands: [],
        blockDevices: [],
      };
      expect(report).toMatchObject({ ...nothing, killed: false, connected: [], port: true });
      expect(report.processes).toBeLessThan(8);
      for (const path of wanted.write) expect(readOr(path) === 'owned', path).toBe(false);
      expect(report.written).toEqual([]);
      expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(corePattern);
      expect(report.status).toMatch(/^CapEff:\s0+$/m);
      expect(report.status).toMatch(/^CapPrm:\s0+$/m);
      expect(report.status).toMatch(/^NoNewPrivs:\s1$/m);
      expect(report.works).toEqual({
        ...Object.fromEntries(Object.keys(report.works).map((key) => [key, true])),
        git: expect.stringContaining('base'),
      });
      expect(existsSync('/tmp/lanekeeper-agent-was-here')).toBe(false);
      expect(existsSync(join(copy.paths.work, 'made-by-agent.txt'))).toBe(true);
      expect(() => process.kill(victim, 0)).not.toThrow();
    });

    it('a command inherits nothing but its standard streams and the lock', async () => {
      const script =
        'ls -l /proc/self/fd | grep -v /dev/null$ | sed -n "s/.*[0-9] \\([0-9]*\\) -> .*/\\1/p" | tr "\\n" " "';
      const result = await run(containment, ['/bin/sh', '-c', script]);
      // `ls` itself opens one: the folder that it lists.
      expect(result.stdout.text.trim().split(' ')).toEqual(['1', '2', '3', '4']);
    });

    it('a program in a hidden place is refused before it starts', async () => {
      put(place.dataDir, 'agent.mjs', '');
      const started = run(containment, [process.execPath, join(place.dataDir, 'agent.mjs')]);
      await expect(started).rejects.toMatchObject({ code: 'agent_unavailable' });
    });

    it('a link that took the place of the copy is refused', async () => {
      rmSync(copy.paths.work, { recursive: true });
      symlinkSync(place.dataDir, copy.paths.work);
      await expect(run(containment, ['/bin/true'])).rejects.toMatchObject({ code: 'copy_failed' });
    });

    it('a program that is not there is a typed error', async () => {
      await expect(run(containment, ['no-such-agent'])).rejects.toMatchObject({ code: 'agent_unavailable' });
    });

    it('a file right in a private place comes alone, to be read', async () => {
      const script = join('/tmp', `lanekeeper-lone-${process.pid}.sh`);
      put('/tmp', script.slice(5), 'ls /tmp; echo owned >>"$0"');
      cleanUps.push(() => rmSync(script));
      const result = await run(containment, ['/bin/sh', script]);
      expect(
        result.stdout.text
          .trim()
          .split('\n')
          .filter((name) => name.includes('lone')),
      ).toEqual([script.slice(5)]);
      expect(readFileSync(script, 'utf8')).toBe('ls /tmp; echo owned >>"$0"');
      expect(result.stdout.text).not.toContain(agents.split('/').at(-1));
    });

    it('a death by signal is told from an exit', async () => {
      const result = await run(containment, ['/bin/sh', '-c', 'kill -SEGV $$']);
      expect(result.ending).toEqual({ kind: 'signal', signal: 'SIGSEGV' });
    });
  },
);

describe('choosing', () => {
  it('a lane that requires containment is refused where none holds', () => {
    const none = levels.filter(({ level }) => !isContained(level));
    expect(() => chooseContainment(none, 'required')).toThrow(
      expect.objectContaining({ code: 'containment_unavailable' }),
    );
    expect(chooseContainment(none, 'none')).toBe(none[0]);
  });

  it('every level that this machine has the means for holds', () => {
    const works = (...command: string[]) => spawnSync(command[0] ?? '', command.slice(1)).status === 0;
    const namespaces = works('unshare', '-U', '-r', '-m', '-p', '-f', '--mount-proc', 'true');
    const contains = [namespaces && works('bwrap', '--version') && 'bwrap', namespaces && 'unshare'];
    const own = readFileSync('/proc/self/cgroup', 'utf8').match(/^0::(.*)$/m)?.[1];
    const point = readFileSync('/proc/mounts', 'utf8').match(/^\S+ (\S+) cgroup2 rw/m)?.[1];
    const mayMake = point !== undefined && works('test', '-w', `${point}${own}/cgroup.procs`);
    const expected = [...contains, mayMake && 'cgroup', 'none'];
    expect(levels.map(({ level }) => level)).toEqual(expected.filter(Boolean));
  });

  it('the strongest level that holds comes first', () => {
    expect(chooseContainment(levels, 'required')).toBe(levels[0]);
    expect(levels.at(-1)?.level).toBe('none');
  });
});
