import { generateKeyPairSync } from 'node:crypto';
import nock from 'nock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { convertCode } from '../../../app/intake/register/convert.ts';
import { isLaneError } from '../../../lanes/errors.ts';

const api = 'https://ghe.example/api/v3';
const pem = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString();
const made = {
  id: 12,
  slug: 'lanekeeper',
  html_url: 'https://ghe.example/apps/lanekeeper',
  pem,
  webhook_secret: 'made-by-github',
  client_secret: 'not ours to keep',
};

beforeAll(() => nock.disableNetConnect());
afterEach(() => nock.cleanAll());
afterAll(() => {
  nock.enableNetConnect();
  nock.restore();
});

/** GitHub's answer to the code `abc`; another request finds nothing. */
function answer(status: number, body: object): nock.Scope {
  return nock(api).post('/app-manifests/abc/conversions').reply(status, body);
}

describe('a code from GitHub', () => {
  it('becomes credentials, and nothing that is not needed is kept', async () => {
    const scope = answer(201, made);
    expect(await convertCode(api, 'abc', 'https://smee.io/x')).toEqual({
      appId: 12,
      slug: 'lanekeeper',
      htmlUrl: 'https://ghe.example/apps/lanekeeper',
      privateKey: pem,
      webhookSecret: 'made-by-github',
      webhookProxyUrl: 'https://smee.io/x',
    });
    expect(scope.isDone()).toBe(true);
  });

  it.each([
    ['is not known', 404, { message: 'Not Found' }, /\(404\)/],
    ['meets a broken GitHub', 502, {}, /\(502\)/],
    ['is answered with half of an App', 201, { ...made, pem: undefined }, /could not be exchanged/],
    [
      'is answered without a webhook secret',
      201,
      { ...made, webhook_secret: null },
      /webhook secret .* is not set/,
    ],
    [
      'is answered with a default secret',
      201,
      { ...made, webhook_secret: 'development' },
      /a default that everybody knows/,
    ],
    ['is answered with a key that is none', 201, { ...made, pem: 'x' }, /private key .* cannot be read/],
  ])('that %s is refused, and is not tried again', async (_what, status, body, message) => {
    const scope = answer(status, body);
    const failed = await convertCode(api, 'abc', null).catch((error: unknown) => error);
    expect(isLaneError(failed, 'github_failed')).toBe(true);
    expect(String(failed)).toMatch(message);
    expect(scope.isDone()).toBe(true);
  });
});
