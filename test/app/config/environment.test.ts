import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isConfigError } from '../../../app/config/problems.ts';
import { probotEnvironment, readServerConfig, workerEnvironment } from '../../../app/config.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const root = mkdtempSync(join(tmpdir(), 'lanekeeper-config-'));
let dataDir = root;
let app: Record<string, string> = {};

beforeEach(() => {
  dataDir = mkdtempSync(join(root, 'data-'));
  app = { APP_ID: '7', PRIVATE_KEY: pem, WEBHOOK_SECRET: 'a-long-enough-secret', LANES_DATA_DIR: dataDir };
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => rmSync(root, { recursive: true }));

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readServerConfig(env);
  } catch (error) {
    if (isConfigError(error)) return error.problems;
    throw error;
  }
  return [];
}

describe('the environment of start', () => {
  it('has defaults for everything but the credentials', () => {
    // Where a checkout has an operator's file, it would be found.
    vi.spyOn(process, 'cwd').mockReturnValue(dataDir);
    expect(readServerConfig(app)).toMatchObject({
      credentials: { appId: 7, privateKey: pem, webhookSecret: 'a-long-enough-secret' },
      apiUrl: 'https://api.github.com',
      serverUrl: 'https://github.com',
      redisUrl: null,
      operatorFile: null,
      workerName: hostname(),
      publicUrl: null,
      webhookProxyUrl: null,
      noteKeys: [],
      host: '127.0.0.1',
      port: 3000,
      logLevel: 'info',
      warnings: [],
    });
  });

  it('without any of the App variables means that the App is not registered', () => {
    expect(readServerConfig({ LANES_DATA_DIR: dataDir }).credentials).toBeNull();
  });

  it.each([
    ['a missing secret', { WEBHOOK_SECRET: '' }, /^WEBHOOK_SECRET is not set/],
    ['a blank secret', { WEBHOOK_SECRET: '          ' }, /^WEBHOOK_SECRET is not set/],
    ['the default secret', { WEBHOOK_SECRET: 'development' }, /^WEBHOOK_SECRET is "development"/],
    ['a short secret', { WEBHOOK_SECRET: 'abcdefg' }, /^WEBHOOK_SECRET has fewer than 8/],
    ['a missing key', { PRIVATE_KEY: '' }, /^PRIVATE_KEY or PRIVATE_KEY_PATH is not set/],
    ['a key that is none', { PRIVATE_KEY: 'nonsense' }, /^PRIVATE_KEY is not an RSA private key/],
    [
      'an unreadable key file',
      { PRIVATE_KEY: '', PRIVATE_KEY_PATH: '/nowhere/key.pem' },
      /^PRIVATE_KEY_PATH cannot be read/,
    ],
    [
      'a key file that is a folder',
      { PRIVATE_KEY: '', PRIVATE_KEY_PATH: '/tmp' },
      /^PRIVATE_KEY_PATH cannot be read/,
    ],
    ['an App id that is no number', { APP_ID: 'seven' }, /^APP_ID must be the number/],
    [
      'a secret without an App id',
      { APP_ID: '' },
      /^APP_ID is not set, but PRIVATE_KEY and WEBHOOK_SECRET are/,
    ],
    [
      'a bad API address',
      { GITHUB_API_URL: 'ftp://x' },
      /^GITHUB_API_URL must be a URL that begins with http:/,
    ],
    ['a bad server address', { GITHUB_SERVER_URL: 'github.com' }, /^GITHUB_SERVER_URL must be a URL/],
    [
      'a bad Redis address',
      { LANES_REDIS_URL: 'http://x' },
      /^LANES_REDIS_URL must be a URL that begins with redis:/,
    ],
    ['a bad port', { PORT: '70000' }, /^PORT must be at most 65535/],
    ['a bad log level', { LOG_LEVEL: 'loud' }, /^LOG_LEVEL /],
    ['a worker name with a line break', { LANES_WORKER_NAME: 'a\nb' }, /^LANES_WORKER_NAME must be/],
    [
      'a missing operator file',
      { LANES_CONFIG: '/nowhere/l.yml' },
      /^LANES_CONFIG names \/nowhere\/l.yml, which does not exist/,
    ],
  ])('refuses %s in one clear line', (_what, change, line) => {
    const problems = problemsOf({ ...app, ...change });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(line);
    expect(problems[0]).not.toMatch(/\n/);
  });

  it('tells everything that is wrong at once, and never a key or secret', () => {
    const problems = problemsOf({
      ...app,
      WEBHOOK_SECRET: 'hush',
      PRIVATE_KEY: 'tell-nobody',
      LANES_CONFIG: '/nowhere',
    });
    expect(problems).toHaveLength(3);
    expect(problems.join()).not.toMatch(/hush|tell-nobody/);
  });

  it.each([
    ['with line breaks written out', pem.replaceAll('\n', '\\n')],
    ['in base64', Buffer.from(pem).toString('base64')],
    ['as PKCS8', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
  ])('reads a private key %s', (_form, text) => {
    expect(readServerConfig({ ...app, PRIVATE_KEY: text }).credentials?.privateKey).toMatch(
      /^-----BEGIN [A-Z ]*PRIVATE KEY-----\n/,
    );
  });

  it('reads a private key from a file', () => {
    const path = join(dataDir, 'key.pem');
    writeFileSync(path, pem);
    expect(
      readServerConfig({ ...app, PRIVATE_KEY: '', PRIVATE_KEY_PATH: path }).credentials?.privateKey,
    ).toBe(pem);
  });

  it('refuses a key that is not RSA', () => {
    const other = generateKeyPairSync('ed25519')
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString();
    expect(problemsOf({ ...app, PRIVATE_KEY: other })).toHaveLength(1);
  });

  it('allows an address that is not loopback, and says so', () => {
    expect(readServerConfig({ ...app, HOST: '0.0.0.0' }).warnings).toEqual([
      expect.stringMatching(/^HOST is 0\.0\.0\.0/),
    ]);
    expect(readServerConfig({ ...app, HOST: '::1' }).warnings).toEqual([]);
  });

  it('says which LANES_ variables it does not know', () => {
    expect(readServerConfig({ ...app, LANES_REDISURL: 'x' }).warnings).toEqual([
      expect.stringMatching(/^LANES_REDISURL /),
    ]);
  });

  it('takes a slash off the end of addresses', () => {
    const config = readServerConfig({
      ...app,
      LANES_PUBLIC_URL: 'https://lanes.example/',
      GITHUB_API_URL: 'http://h/api/v3//',
    });
    expect([config.publicUrl, config.apiUrl]).toEqual(['https://lanes.example', 'http://h/api/v3']);
  });
});

describe('stored credentials', () => {
  const stored = () => ({
    appId: 9,
    privateKey: pem,
    webhookSecret: 'stored-secret',
    webhookProxyUrl: 'https://smee.io/x',
  });
  const store = (text: string, mode = 0o600) => {
    writeFileSync(join(dataDir, 'app.json'), text);
    chmodSync(join(dataDir, 'app.json'), mode);
  };

  it('are used where the environment has none, their smee channel too', () => {
    store(JSON.stringify(stored()));
    const config = readServerConfig({ LANES_DATA_DIR: dataDir });
    expect(config.credentials?.appId).toBe(9);
    expect(config.webhookProxyUrl).toBe('https://smee.io/x');
  });

  it.each([
    ['readable by others', JSON.stringify({}), 0o644, /can be read by others\. Run: chmod 600/],
    ['not JSON', '{', 0o600, /it is no JSON/],
    ['of another shape', '{"appId":1}', 0o600, /does not hold an App's credentials/],
  ])('that are %s are refused, not ignored', (_what, text, mode, line) => {
    store(text, mode);
    expect(problemsOf({ LANES_DATA_DIR: dataDir })).toEqual([expect.stringMatching(line)]);
  });

  it('with a default secret are refused', () => {
    store(JSON.stringify({ ...stored(), webhookSecret: 'development' }));
    expect(problemsOf({ LANES_DATA_DIR: dataDir })).toHaveLength(1);
  });
});

describe('what others see of the environment', () => {
  it('Probot sees no REDIS_URL and nothing else that it was not given', () => {
    const config = readServerConfig({ ...app, REDIS_URL: 'redis://theirs', SENTRY_DSN: 'x' });
    if (config.credentials === null) throw new Error('there are credentials');
    expect(Object.keys(probotEnvironment(config, config.credentials)).sort()).toEqual([
      'APP_ID',
      'LOG_LEVEL',
      'PRIVATE_KEY',
      'WEBHOOK_SECRET',
    ]);
  });

  it('the worker sees plain names and what an agent may see', () => {
    const env = { ...app, PATH: '/bin', API_KEY: 'k', LANES_NOTE_KEY: 'n', GITHUB_TOKEN: 't' };
    expect(workerEnvironment(['API_KEY', 'NOT_SET'], env)).toEqual({ PATH: '/bin', API_KEY: 'k' });
  });
});
