import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { closeBodyReader, readBody } from '../../../app/github/body/index.ts';
import { sibling } from '../../../app/sibling.ts';
import { readCriteria } from '../../../lanes/rules/criteria/index.ts';
import { cases } from '../../lanes/rules/criteria/fixtures.ts';

afterAll(closeBodyReader);

/** Within the bounds, but slow enough for any short deadline. */
const slow = `## AC\n- [ ] a door\n\n${'_a* '.repeat(3000)}\n`;

test('a body read in the thread gives what reading in place gives', async () => {
  for (const { body } of cases.slice(0, 40)) {
    expect(await readBody(body)).toEqual({ kind: 'read', reading: readCriteria(body) });
  }
});

test('bodies asked for together are all read', async () => {
  const answers = await Promise.all(cases.map(({ body }) => readBody(body)));
  expect(answers).toEqual(cases.map(({ body }) => ({ kind: 'read', reading: readCriteria(body) })));
});

test('a null body has no criteria and starts nothing', async () => {
  expect(await readBody(null)).toMatchObject({ kind: 'read', reading: { criteria: [], section: null } });
});

describe('what cannot be read says why', () => {
  test.each([
    ['too_long', 'a'.repeat(65_537)],
    ['too_deep', '> '.repeat(32_000)],
  ])('%s before the thread sees it', async (why, body) => {
    expect(await readBody(body)).toEqual({ kind: 'unreadable', why });
  });

  test('a passed deadline ends the thread, and the next body gets a new one', async () => {
    const [late, next] = await Promise.all([
      readBody(slow, { deadlineMs: 1 }),
      readBody('## AC\n- the door opens\n'),
    ]);
    expect(late).toEqual({ kind: 'unreadable', why: 'deadline' });
    expect(next).toMatchObject({ kind: 'read', reading: { criteria: [{ text: 'the door opens' }] } });
  });

  test('too little memory', async () => {
    await closeBodyReader();
    const body = '[a](b) *c* `d`\n\n'.repeat(4000);
    expect(await readBody(body, { memoryMb: 24, deadlineMs: 60_000 })).toEqual({
      kind: 'unreadable',
      why: 'memory',
    });
    expect(await readBody('## AC\n- the door opens\n')).toMatchObject({ kind: 'read' });
  });
});

test('a process that has read a body ends by itself', async () => {
  const { execArgv } = sibling(import.meta.url, 'unused');
  const reader = new URL('../../../app/github/body/index.ts', import.meta.url).href;
  const source = `const { readBody } = await import(${JSON.stringify(reader)}); console.log((await readBody('## AC\\n- the door opens')).kind);`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...execArgv, '--input-type=module', '--eval', source],
    { timeout: 120_000 },
  );
  expect(stdout.trim()).toBe('read');
});

test('a build runs its siblings as JavaScript, without a loader', () => {
  expect(sibling('file:///srv/dist/app/github/body/index.js', 'worker')).toEqual({
    url: new URL('file:///srv/dist/app/github/body/worker.js'),
    execArgv: [],
  });
});
