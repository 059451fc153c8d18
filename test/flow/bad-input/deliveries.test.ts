/** Deliveries that are not what GitHub sends, through `lanekeeper start`: taken, written off, and nothing is hurt. */
import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Stage } from '../../demo/stage.ts';
import { waitFor } from '../../demo/watch.ts';
import { until } from '../../support/until.ts';

const config = `
lanes:
  plain:
    label: "área/日本語 ✅"
    agent: { kind: checks }
    checks: { unit: { run: ["true"], proves: ["*"] } }
grants:
  demo-worker: ["lane:plain"]
`;
const label = 'área/日本語 ✅';
const body = '## Acceptance criteria\n\n- [ ] It is there\n';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ PATH: process.env.PATH }, config);
}, 120_000);
afterAll(() => stage.close(), 120_000);

async function deliver(payload: string, head: Record<string, string> = {}): Promise<number> {
  const mac = createHmac('sha256', stage.github.webhookSecret).update(payload).digest('hex');
  const response = await fetch(`${stage.url}/api/github/webhooks`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'issues',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${mac}`,
      ...head,
    },
    body: payload,
  });
  return response.status;
}

const whole = () => ({
  action: 'labeled',
  installation: { id: stage.github.installationId },
  repository: { id: 1, full_name: 'acme/shop' },
  sender: { login: 'maria', id: 1, type: 'User' },
  issue: { number: 1, body: null, labels: [] },
  label: { name: label },
});

test('bodies that are no delivery, or only half of one, are taken and written off', async () => {
  const halves = Object.keys(whole()).flatMap((key) => [
    { ...whole(), [key]: undefined },
    { ...whole(), [key]: null },
    { ...whole(), [key]: ['x'] },
    { ...whole(), [key]: { id: '1', number: -1, name: 7, login: {}, full_name: 'a/b/c' } },
  ]);
  const bodies = [
    'null',
    '[]',
    '"text"',
    '7',
    '{}',
    '{"action":{}}',
    '{"__proto__":{"action":"labeled"},"constructor":1}',
    `{"action":"labeled","issue":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    `{"action":"labeled","issue":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
    'not json',
    JSON.stringify({ ...whole(), issue: { number: 2 ** 53, labels: 'x', body: 7 } }),
    JSON.stringify({ ...whole(), repository: { id: 1, full_name: '../..' } }),
    JSON.stringify({ ...whole(), label: { name: 'lane:\u0000\ud800' } }),
    ...halves.map((half) => JSON.stringify(half)),
  ];
  for (const one of bodies) expect(await deliver(one)).toBe(202);
  for (const event of ['no_such_event', 'issue_comment', 'installation', 'ping', 'constructor']) {
    expect(await deliver(JSON.stringify({ action: 'created' }), { 'x-github-event': event })).toBe(202);
  }
  for (const action of ['constructor', '__proto__', 'x'.repeat(10_000), '']) {
    expect(await deliver(JSON.stringify({ ...whole(), action }))).toBe(202);
  }
});

test('what is not signed, or signed for another body, is refused, and health tells nothing', async () => {
  const other = createHmac('sha256', stage.github.webhookSecret).update('{}').digest('hex');
  const bad = ['sha256=', `sha256=${'0'.repeat(64)}`, `sha256=${other}`, 'sha1=abc', other];
  for (const signature of bad) {
    expect(await deliver(JSON.stringify(whole()), { 'x-hub-signature-256': signature })).toBe(401);
  }
  for (const path of ['/healthz', '/readyz']) {
    const response = await fetch(stage.url + path, { headers: { host: 'evil.example' } });
    const told: unknown = await response.json();
    expect(told).toEqual({ status: expect.stringMatching(/^(?:alive|ready)$/) });
  }
  const paths = [
    '/',
    '/setup',
    '/api/github/webhooks',
    '//api/github/webhooks',
    '/api/github/../../etc/passwd',
  ];
  for (const path of paths) expect((await fetch(stage.url + path)).status).toBe(404);
});

test('after all that an issue under an odd label, in odd words, still completes', async () => {
  const { people, owner, repo } = stage.watched;
  const odd = '日本語 العربية \u202e\r\n\r\n<!-- psst -->\u0000 \ud800 💥'.repeat(20);
  const title = '"; rm -rf / #$(touch /tmp/owned)`id` ../../x';
  const { data } = await people.issues.create({ owner, repo, title, body: `${body}\r\n${odd}` });
  await people.issues.addLabels({ owner, repo, issue_number: data.number, labels: [label] });
  const seen = await waitFor(stage.watched, data.number, 'it completes', ({ state }) => state === 'closed');
  expect(seen.notes.map(({ state }) => state)).toEqual(['complete']);
  const { data: comments } = await people.issues.listComments({ owner, repo, issue_number: data.number });
  expect(comments.at(-1)?.body).toContain('Hidden text was removed');
});

test('a repository without commits parks, with what to do', async () => {
  const { people, owner } = stage.watched;
  await stage.github.createRepo({ owner, name: 'empty', empty: true });
  const { data } = await people.issues.create({ owner, repo: 'empty', title: 'First', body });
  await people.issues.addLabels({ owner, repo: 'empty', issue_number: data.number, labels: [label] });
  const note = await until('a note', async () => {
    const comments = await people.issues.listComments({ owner, repo: 'empty', issue_number: data.number });
    return comments.data.at(-1)?.body;
  });
  expect(note).toMatch(/no commit/i);
});
