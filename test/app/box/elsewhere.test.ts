/** A worker on another machine, and an agent that speaks MCP: both against one App. */
import { join } from 'node:path';
import { env } from 'node:process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embeddedAddress } from '../../../lanes/store/embedded.ts';
import { waitFor } from '../../demo/watch.ts';
import { until } from '../../support/until.ts';
import { type BoxStage, node, openBoxStage } from './stage.ts';

const longMs = 240_000;

let stage: BoxStage;
let client: Client;
beforeAll(async () => {
  stage = await openBoxStage();
  client = await mcpClient('mcp');
}, longMs);
afterAll(async () => {
  await client.close();
  await stage.close();
});

async function mcpClient(name: string): Promise<Client> {
  const [command, args] = node('box', '--as', 'agent:43', '--mcp');
  const settings = { ...stage.settings(name), LANES_WORKER_NAME: 'box-43' };
  const token = await stage.tokenFor('box-43');
  const transport = new StdioClientTransport({
    command,
    args,
    cwd: stage.folder,
    env: { PATH: env.PATH ?? '', ...settings, LANES_WORKER_TOKEN: token },
  });
  const made = new Client({ name: 'test', version: '1' });
  await made.connect(transport);
  return made;
}

type Answer = Record<string, unknown> & { readonly error?: { readonly code: string } };

async function call(name: string, args: Record<string, unknown> = {}): Promise<Answer> {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const [first] = content as { text: string }[];
  const answer = JSON.parse(first?.text ?? 'null') as Answer;
  expect(answer.error !== undefined).toBe(isError === true);
  return answer;
}

async function claim(issue: number): Promise<Answer & { lease: string; criteria: { id: string }[] }> {
  await until('the task waits', async () => (await call('task_wait', { waitMs: 1_000 })).pending === 1);
  const claimed = await call('task_claim', { waitMs: 5_000 });
  expect(claimed).toMatchObject({ claimed: true, run: 1, issue: { number: issue } });
  return claimed as Awaited<ReturnType<typeof claim>>;
}

const met = (criteria: readonly { id: string }[]) =>
  criteria.map(({ id }) => ({
    criterion: id,
    disposition: 'met',
    evidence: [{ kind: 'file', path: 'done.txt' }],
  }));

const patch = `diff --git a/done.txt b/done.txt
new file mode 100644
--- /dev/null
+++ b/done.txt
@@ -0,0 +1 @@
+done by hand
`;

test('the tools are the fleet verbs', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual([
    'task_claim',
    'task_complete',
    'task_heartbeat',
    'task_park',
    'task_pending',
    'task_wait',
  ]);
  for (const { description } of tools) expect(description).toBeTruthy();
  expect(await call('task_pending')).toEqual({ pending: 0 });
  expect(await call('task_claim')).toEqual({ claimed: false });
});

test('an agent over MCP does a task: its patch lies with the App', { timeout: longMs }, async () => {
  const issue = await stage.issue({ label: 'lane:said' });
  const { lease, criteria, prompt } = await claim(issue);
  expect(prompt).toContain('The file is there');
  expect(JSON.stringify({ criteria, prompt })).not.toMatch(/ghs_|x-access-token/);
  expect((await call('task_claim')).error?.code).toBe('wrong_state');
  expect(await call('task_heartbeat', { lease, progress: 'half way' })).toMatchObject({ endsInMs: 15_000 });
  const result = { lease, outcome: 'done', summary: 'Did it.', dispositions: met(criteria) };
  const spoilt = { ...result, patch: patch.replace('new file', 'deleted file') };
  expect((await call('task_complete', spoilt)).error?.code).toBe('invalid_result');
  expect(await call('task_complete', { ...result, patch })).toEqual({ state: 'closing' });
  await stage.completes(issue);
  expect(await stage.command('patch', String(issue))).toBe(patch);
  expect((await call('task_complete', result)).error?.code).toBe('lease_lost');
});

test('where only the host could prove it nothing is recorded, and the agent parks', {
  timeout: longMs,
}, async () => {
  const issue = await stage.issue({ label: 'lane:strict' });
  const { lease, criteria } = await claim(issue);
  const result = { lease, outcome: 'done', summary: 'Did it.', dispositions: met(criteria) };
  expect((await call('task_complete', result)).error?.code).toBe('proof_unverified');
  expect((await call('task_complete', { ...result, patch })).error?.code).toBe('invalid_result');
  expect((await call('task_park', { lease: 'another', question: 'Is it good?' })).error?.code).toBe(
    'lease_lost',
  );
  expect(await call('task_park', { lease, question: 'Is it good?' })).toEqual({
    state: 'parked',
    reason: 'needs_answer',
  });
  await waitFor(stage.watched, issue, 'the question', ({ notes }) => notes.at(-1)?.state === 'parked');
});

test('a session that ends gives its task back', { timeout: longMs }, async () => {
  const issue = await stage.issue({ label: 'lane:said' });
  await claim(issue);
  await client.close();
  client = await mcpClient('mcp-again');
  await until('it waits again', async () => (await call('task_pending')).pending === 1);
  const claimed = await call('task_claim', { waitMs: 5_000 });
  expect(claimed).toMatchObject({ claimed: true, run: 2, issue: { number: issue } });
});

test('a worker on another machine completes an issue with its own credentials', {
  timeout: longMs,
}, async () => {
  const credentials = join(stage.folder, 'machine-b.json');
  await stage.command('redis-acl', '--credentials', 'machine-b', credentials);
  const variables = {
    LANES_REDIS_URL: embeddedAddress(stage.dataDir),
    LANES_CREDENTIALS: credentials,
    LANES_APP_URL: stage.app.url,
    LANES_WORKER_TOKEN: await stage.tokenFor('machine-b'),
    LANES_WORKER_NAME: 'machine-b',
    LANES_DATA_DIR: join(stage.folder, 'machine-b'),
    LANES_CONFIG: stage.config,
  };
  const worker = stage.elsewhere(['worker'], variables);
  const issue = await stage.issue({ label: 'lane:near' });
  const seen = await stage.completes(issue);
  expect(seen.notes.at(-1)?.run).toBe(1);
  worker.child.kill('SIGTERM');
  expect(await worker.ended).toBe(0);
  const { LANES_CREDENTIALS: _, ...without } = variables;
  const refused = stage.elsewhere(['worker'], without);
  expect(await refused.ended).toBe(2);
  expect(refused.log().trim()).toMatch(/^worker: LANES_CREDENTIALS is not set[^\n]*$/);
});
