import { describe, expect, test } from 'vitest';
import { handedSecrets, makeEnvironment } from '../../../lanes/work/environment.ts';

const worker = {
  PATH: '/bin',
  LANG: 'C',
  MODEL_KEY: 'key-0123456789',
  PRIVATE_KEY: 'pem',
  HOME: '/root',
  TZ: undefined,
};

function make(names: string[]) {
  return makeEnvironment({ worker, names, ioDir: '/io', own: { LANES_TASK_FILE: '/io/task.json' } });
}

describe('the environment of an agent', () => {
  test('holds what every program needs, what its lane lists, and nothing else', () => {
    expect(make(['MODEL_KEY', 'NOT_THERE'])).toEqual({
      PATH: '/bin',
      LANG: 'C',
      MODEL_KEY: 'key-0123456789',
      HOME: '/io/home',
      TMPDIR: '/io/tmp',
      LANES_TASK_FILE: '/io/task.json',
    });
  });

  test.each([
    'PRIVATE_KEY',
    'PRIVATE_KEY_PATH',
    'APP_ID',
    'WEBHOOK_SECRET',
    'LANES_REDIS_URL',
    'LANES_NOTE_KEY',
    'HOME',
  ])('never holds %s, whatever its lane lists', (name) => {
    expect(() => make([name])).toThrow(expect.objectContaining({ code: 'agent_unavailable' }));
  });

  test('what was handed over is a secret, unless it is so short that it would blank out words', () => {
    expect(handedSecrets(worker, ['MODEL_KEY', 'LANG', 'NOT_THERE'])).toEqual(['key-0123456789']);
  });
});
