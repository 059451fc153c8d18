import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runBox } from '../../../app/box.ts';
import { boxConfigOf } from '../../../app/config/elsewhere.ts';
import { readVariables } from '../../../app/config/environment.ts';
import { revokeToken } from '../../../app/fleet/token-file.ts';
import { until } from '../../support/until.ts';
import { type Line, openLine } from './line.ts';
import { type BoxStage, openBoxStage, type RunningBox } from './stage.ts';

/** Every test starts processes that load the whole program. */
const longMs = 240_000;

let stage: BoxStage;
let line: Line;
let latest: RunningBox | undefined;
beforeAll(async () => {
  stage = await openBoxStage();
  line = await openLine(stage.app.url);
}, longMs);
beforeEach(({ onTestFailed }) => {
  line.hang(null);
  line.cut(false);
  line.forget();
  onTestFailed(() => void process.stderr.write(latest?.log() ?? ''));
});
afterAll(async () => {
  await stage.close();
  await line.close();
});

const silent = pino({ level: 'silent' });
const as = ['--as', 'agent:42'];

function box(name: string, args: readonly string[] = as, more: Record<string, string> = {}): RunningBox {
  latest = stage.box(name, args, { LANES_APP_URL: line.url, ...more });
  return latest;
}

const agentWaits = (issue: number) =>
  until(`the agent of #${issue}`, async () => stage.gate.waiting(issue).length > 0, 60_000);

async function patches(name: string): Promise<string[]> {
  const files = await readdir(join(stage.folder, name, 'outbox'));
  return files.filter((file) => file.endsWith('.patch'));
}

test('a box completes an issue of its own namespace, and the App has the patch', {
  timeout: longMs,
}, async () => {
  const issue = await stage.issue();
  const running = box('one', [...as, '--once']);
  const seen = await stage.completes(issue);
  expect(seen.stateReason).toBe('completed');
  expect(await running.ended).toBe(0);
  expect(await stage.command('patch', String(issue))).toContain(`+run 1 of #${issue}`);
  expect(running.log()).not.toContain(stage.token);
});

test('a box killed in the middle of an upload goes on where the App stopped', {
  timeout: longMs,
}, async () => {
  const issue = await stage.issue({ title: 'There is much to do' });
  const isPut = ({ method }: { method: string }) => method === 'PUT';
  line.hang((one) => isPut(one) && one.headers['upload-offset'] !== '0');
  const first = box('one');
  await until('the second piece', async () => line.seen.filter(isPut).length === 2, 100_000);
  first.child.kill('SIGKILL');
  await first.ended;
  line.hang(null);
  // In this process, so that it is there before the lease ends, however busy the machine is.
  const config = { ...boxConfigOf(readVariables(stage.settings('one'))), appUrl: line.url };
  await runBox(config, { namespace: 'agent:42', ttlMs: 1, once: true }, silent, new AbortController().signal);
  const seen = await stage.completes(issue);
  expect(seen.notes.at(-1)?.run).toBe(1);
  const offsets = line.seen.filter(isPut).map(({ headers }) => Number(headers['upload-offset']));
  expect(offsets).toEqual([0, 4_194_304, 4_194_304, 8_388_608]);
});

test('an App that is away for a while is waited for: the run counts once', { timeout: longMs }, async () => {
  const issue = await stage.issue({ held: true });
  const config = { ...boxConfigOf(readVariables(stage.settings('one'))), appUrl: line.url };
  const stay = { namespace: 'agent:42', ttlMs: 60_000, once: true };
  const running = runBox(config, stay, silent, new AbortController().signal);
  await agentWaits(issue);
  line.cut(true);
  line.forget();
  stage.gate.release(issue);
  await until('it was tried', async () => line.seen.length > 2);
  line.cut(false);
  expect((await stage.completes(issue)).notes.at(-1)?.run).toBe(1);
  await running;
});

test('a box that is told to go captures its run and hands it back', { timeout: longMs }, async () => {
  const issue = await stage.issue({ held: true });
  const first = box('two');
  await agentWaits(issue);
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  expect(await patches('two')).toHaveLength(1);
  stage.gate.release(issue);
  const second = box('two', [...as, '--once']);
  expect((await stage.completes(issue)).notes.at(-1)?.run).toBe(2);
  expect(await second.ended).toBe(0);
  const patch = await stage.command('patch', String(issue));
  expect(patch).toContain(`+run 2 of #${issue}`);
});

test('a token revoked in the middle of a run ends it, with its work in the outbox', {
  timeout: longMs,
}, async () => {
  const other = await stage.tokenFor('box-42');
  const issue = await stage.issue({ held: true });
  const first = box('three', as, { LANES_WORKER_TOKEN: other });
  await agentWaits(issue);
  await revokeToken(stage.dataDir, other.split('_')[1] ?? '', Date.now());
  expect(await first.ended).toBe(1);
  const last = first.log().trim().split('\n').at(-1) ?? '';
  expect(last).toMatch(/^box: The caller has no identity/);
  expect(first.log()).not.toContain(other);
  expect(await patches('three')).toHaveLength(1);
  stage.gate.release(issue);
  const second = box('four', [...as, '--once']);
  expect((await stage.completes(issue)).notes.at(-1)?.run).toBe(2);
  expect(await second.ended).toBe(0);
});

test("a box in another's namespace is refused, and one without work goes", { timeout: longMs }, async () => {
  const never = new AbortController().signal;
  const stay = { namespace: 'agent:42', ttlMs: 100, once: false };
  const config = boxConfigOf(readVariables(stage.settings('five')));
  const refused = runBox(config, { ...stay, namespace: 'agent:43' }, silent, never);
  await expect(refused).rejects.toMatchObject({ code: 'fleet_queue_off_limits' });
  await runBox(config, stay, silent, never);
});

test('two boxes cannot share a data directory', async () => {
  const config = boxConfigOf(readVariables(stage.settings('six')));
  const stay = { namespace: 'agent:42', ttlMs: 60_000, once: false };
  const go = new AbortController();
  const first = runBox(config, stay, silent, go.signal);
  await until('it asks', async () => existsSync(join(config.dataDir, 'outbox')));
  await expect(runBox(config, stay, silent, go.signal)).rejects.toThrow(/another box works in/);
  go.abort();
  await first;
});
