import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

/** The build as it ships: elsewhere the tests start a smaller copy of it. */
const shipped = fileURLToPath(new URL('../../../dist/app/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'lanekeeper-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const key = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString();
const good = { APP_ID: '1', PRIVATE_KEY: key, WEBHOOK_SECRET: 'a secret of some length', PORT: '0' };
const nobody = 'http://127.0.0.1:9';

async function start(env: Record<string, string>) {
  const child = spawn(process.execPath, [shipped, 'start'], {
    cwd: folder,
    env: { PATH: process.env.PATH, LANES_DATA_DIR: join(folder, 'var'), GITHUB_API_URL: nobody, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  const lines = stderr.split('\n').filter((line) => line !== '');
  return { code, stdout, lines };
}

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const { WEBHOOK_SECRET: _, ...noSecret } = good;
const { PRIVATE_KEY: _key, ...noKey } = good;

describe('start ends with 2 and one clear line', () => {
  it.each<[string, Record<string, string>, RegExp]>([
    ['without a secret', noSecret, /WEBHOOK_SECRET is not set/],
    [
      'with the secret that everybody knows',
      { ...good, WEBHOOK_SECRET: 'development' },
      /WEBHOOK_SECRET is "dev/,
    ],
    ['without a key', noKey, /PRIVATE_KEY or PRIVATE_KEY_PATH is not set/],
    ['with a key that is none', { ...good, PRIVATE_KEY: 'nothing' }, /PRIVATE_KEY is not an RSA private key/],
    [
      'with a key file that is not there',
      { ...noKey, PRIVATE_KEY_PATH: '/nowhere' },
      /PRIVATE_KEY_PATH cannot be/,
    ],
    [
      'where Redis cannot be reached',
      { ...good, LANES_REDIS_URL: 'redis://127.0.0.1:9' },
      /Redis did not answer/,
    ],
    ['with a file that is no YAML', { ...good, LANES_CONFIG: file('a.yml', 'lanes: [') }, /a\.yml:1:\d+: /],
    [
      'with a misspelt field',
      { ...good, LANES_CONFIG: file('b.yml', 'lanes: {}\nrepo: []\n') },
      /b\.yml:2:1: /,
    ],
    ['where GitHub cannot be reached', good, /cannot be asked who the App is: /],
    ['with two keys', { ...good, PRIVATE_KEY_PATH: '/k' }, /PRIVATE_KEY and PRIVATE_KEY_PATH are both set/],
  ])('%s', async (_name, env, expected) => {
    const { code, stdout, lines } = await start(env);
    expect(lines.filter((line) => expected.test(line))).toHaveLength(1);
    expect(lines.every((line) => line.startsWith('lanekeeper: '))).toBe(true);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it('where the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { APP_ID: _a, PRIVATE_KEY: _b, WEBHOOK_SECRET: _c, ...unregistered } = good;
    const { code, lines } = await start({ ...unregistered, PORT: String(port) });
    other.close();
    expect(lines).toEqual([expect.stringMatching(/HOST and PORT cannot be used: .*EADDRINUSE/)]);
    expect(code).toBe(2);
  });
});
