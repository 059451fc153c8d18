import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const run = join(checkout, 'scripts/run.mjs');
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lanekeeper-setup-'));
  chmodSync(root, 0o755);
});
afterEach(() => rmSync(root, { recursive: true }));

function node(
  args: string[],
  env: Record<string, string> = {},
  wrap: string[] = [],
): SpawnSyncReturns<string> {
  const [program = process.execPath, ...rest] = [...wrap, process.execPath, ...args];
  return spawnSync(program, rest, {
    cwd: checkout,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', ...env },
  });
}

/** Calls one function of a script, as another script would. */
function call(file: string, expression: string, env: Record<string, string> = {}) {
  const code = `import * as m from ${JSON.stringify(join(checkout, 'scripts/setup', file))};
try { ${expression} } catch (error) { console.error(error.message); process.exitCode = 1; }`;
  return node(['--input-type=module', '-e', code], env);
}

describe('run.mjs', () => {
  it('passes on output and exit code, and adds nothing to stdout', () => {
    const { status, stdout } = node([run, 'node', '-e', "console.log('{}'); process.exit(7)"]);
    expect({ status, stdout }).toEqual({ status: 7, stdout: '{}\n' });
  });

  it('ends by the signal that its command ended by', () => {
    const { signal } = node([run, 'node', '-e', "process.kill(process.pid, 'SIGKILL')"]);
    expect(signal).toBe('SIGKILL');
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('passes %s on, and waits for the end', async (signal) => {
    const program = `process.on('${signal}', () => { console.log('told'); process.exit(3); }); setInterval(() => {}, 1000); console.log('up');`;
    const child = spawn(process.execPath, [run, 'node', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      said += chunk;
    });
    await once(child.stdout, 'data');
    child.kill(signal);
    const [code] = await once(child, 'close');
    expect({ code, said }).toEqual({ code: 3, said: 'up\ntold\n' });
  });

  it('says so where the command does not exist, or none is given', () => {
    expect(node([run, 'no-such-program'])).toMatchObject({ status: 127, stdout: '' });
    const { status, stderr } = node([run]);
    expect(status).toBe(1);
    expect(stderr).toBe('lanekeeper: Say which command to run: node scripts/run.mjs <command…>\n');
  });
});

describe('the npm packages', () => {
  /** A checkout with one locked package, and an npm that writes down how it was called and installs it. */
  function makeCheckout(): Record<string, string> {
    const lock = {
      packages: {
        '': {},
        'node_modules/a': { version: '1.0.0' },
        'node_modules/b': { version: '2.0.0', optional: true },
      },
    };
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lock));
    const npm = join(root, 'npm.js');
    writeFileSync(
      npm,
      `const fs = require('node:fs');
console.log('npm talks');
fs.appendFileSync(${JSON.stringify(join(root, 'calls'))}, process.argv.slice(2).join(' ') + '\\n');
fs.mkdirSync('node_modules', { recursive: true });`,
    );
    return { npm_execpath: npm };
  }
  const ensure = (env: Record<string, string>) =>
    call('packages.mjs', `m.ensurePackages(${JSON.stringify(root)})`, env);
  const calls = () =>
    existsSync(join(root, 'calls')) ? readFileSync(join(root, 'calls'), 'utf8').split('\n').length - 1 : 0;
  const install = (packages: unknown) => {
    mkdirSync(join(root, 'node_modules'), { recursive: true });
    writeFileSync(join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  };

  it('are installed where there are none, with nothing on stdout, and once', () => {
    const env = makeCheckout();
    expect(ensure(env)).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringMatching(/Installing.*\nnpm talks\n/),
    });
    expect(readFileSync(join(root, 'calls'), 'utf8')).toBe(
      'ci --include=dev --no-progress --loglevel=error\n',
    );
    expect(ensure(env)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(calls()).toBe(1);
  });

  it('are installed again where the lockfile has changed', () => {
    const env = makeCheckout();
    ensure(env);
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: {} }));
    ensure(env);
    expect(calls()).toBe(2);
  });

  it('that a plain npm ci has put there are taken as they are', () => {
    const env = makeCheckout();
    install({ 'node_modules/a': { version: '1.0.0' } });
    ensure(env);
    expect(calls()).toBe(0);
    const hash = createHash('sha256')
      .update(readFileSync(join(root, 'package-lock.json')))
      .digest('hex');
    expect(readFileSync(join(root, 'node_modules/.lanekeeper-lock'), 'utf8')).toBe(hash);
  });

  it.each([
    ['of another version', { 'node_modules/a': { version: '1.0.1' } }],
    ['without the development ones', {}],
    [
      'with an optional one of another version',
      { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } },
    ],
  ])('%s are replaced', (_what, packages) => {
    const env = makeCheckout();
    install(packages);
    ensure(env);
    expect(calls()).toBe(1);
  });

  it('of another checkout, through a link, are left alone', () => {
    const env = makeCheckout();
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync('elsewhere', join(root, 'node_modules'));
    ensure(env);
    expect(calls()).toBe(0);
  });

  it('that cannot be installed end the command with what to do', () => {
    const env = makeCheckout();
    writeFileSync(env.npm_execpath ?? '', 'process.exit(1)');
    expect(ensure(env)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('npm ci did not succeed. Run it by hand'),
    });
    expect(existsSync(join(root, '.setup-lock'))).toBe(false);
  });

  it('are installed once by two commands at the same time, and the lock of a dead one does not count', async () => {
    const env = makeCheckout();
    symlinkSync('999999999', join(root, '.setup-lock'));
    const code = `import { ensurePackages } from ${JSON.stringify(join(checkout, 'scripts/setup/packages.mjs'))}; ensurePackages(${JSON.stringify(root)});`;
    const both = [1, 2].map(() =>
      spawn(process.execPath, ['--input-type=module', '-e', code], {
        env: { ...env, PATH: '/usr/bin' },
        stdio: 'ignore',
      }),
    );
    const codes = await Promise.all(both.map(async (child) => (await once(child, 'exit'))[0]));
    expect(codes).toEqual([0, 0]);
    expect(calls()).toBe(1);
    expect(existsSync(join(root, '.setup-lock'))).toBe(false);
  });
});

describe('the programs of the system', () => {
  const program = (name: string, script = '') => {
    writeFileSync(join(root, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(root, name), 0o755);
  };
  const ensure = (first = 'process.getuid = () => 0;') =>
    call('tools.mjs', `${first} m.ensureTools(['redis', 'utilLinux', 'bubblewrap'])`, { PATH: root });

  it('that are all there cost no word', () => {
    for (const name of ['valkey-server', 'flock', 'setpriv', 'unshare', 'bwrap']) program(name);
    expect(ensure()).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });

  it('that are missing are installed where we are root, and announced on stderr', () => {
    for (const name of ['flock', 'setpriv', 'unshare']) program(name);
    program(
      'apt-get',
      `echo "apt-get $*"; for p in redis-server bwrap; do echo > ${root}/$p; /bin/chmod 755 ${root}/$p; done`,
    );
    const { status, stdout, stderr } = ensure();
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(stderr).toContain(
      'Installing redis-server, bubblewrap with apt-get, because redis-server, bwrap is missing.',
    );
    expect(stderr).toContain('apt-get install -y -qq --no-install-recommends redis-server bubblewrap');
  });

  it('that are still missing after the installation end the command', () => {
    program('apk');
    expect(ensure()).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/still missing after: apk add/),
    });
  });

  it('that are missing are asked for in one line where we are not root', () => {
    for (const name of ['flock', 'setpriv', 'unshare', 'apt-get']) program(name);
    const { status, stderr } = ensure('process.getuid = () => 1000;');
    expect(status).toBe(1);
    expect(stderr).toBe(
      'These programs are missing: redis-server, bwrap. Run: sudo apt-get update && sudo apt-get install -y --no-install-recommends redis-server bubblewrap\n',
    );
  });

  it('that no package manager can install are named', () => {
    expect(ensure()).toMatchObject({
      status: 1,
      stderr: 'These programs are missing: redis-server, flock, setpriv, unshare, bwrap. Install them.\n',
    });
  });
});
