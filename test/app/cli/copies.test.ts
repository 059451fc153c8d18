import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { copiesCommand } from '../../../app/cli/copies.ts';
import { sweepCommand } from '../../../app/cli/sweep.ts';
import { makeRemote, temporaryFolder } from '../../lanes/work/support.ts';
import { breakCapture, type OwnerProcess, startOwner } from '../owners.ts';
import { runCommand } from './command.ts';

let owner: OwnerProcess | undefined;
afterEach(() => owner?.kill());

const me = userInfo().username;

interface LedgerLine {
  readonly event: string;
  readonly copy?: string;
}

function ledgerOf(dataDir: string, copy: string | undefined): LedgerLine[] {
  const folder = join(dataDir, 'ledger');
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8').trim());
  const lines = texts.flatMap((text) => text.split('\n')).map((line): LedgerLine => JSON.parse(line));
  return lines.filter((line) => line.copy === copy);
}

it('lists what exists, and leads out of quarantine; each way leaves its record', {
  timeout: 240_000,
}, async () => {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'var');
  const states = ['worked', 'worked', 'worked'] as const;
  owner = await startOwner(makeRemote({ 'a.txt': 'a\n' }), 'worker-a\u001b[31m', [{ dataDir, states }]);
  const [[first, second, third] = []] = owner.ids;
  const copies = (...args: string[]) => runCommand(dataDir, copiesCommand(), ...args);
  const json = async (...args: string[]) => JSON.parse((await copies(...args, '--json')).stdout);
  const of = (list: { id: string }[], id: string | undefined) => list.find((one) => one.id === id);

  const alive = await json();
  expect(alive).toHaveLength(3);
  expect(of(alive, second)).toMatchObject({
    ...{ task: 'task0000001', run: 1, namespace: 'lane:triage', alive: true, state: 'running' },
    ...{ owner: { pid: owner.pid }, bytes: expect.any(Number), ageMs: expect.any(Number), quarantined: null },
  });
  const words = await copies();
  expect(words).toMatchObject({ code: 0, stderr: '' });
  expect(words.stdout).toContain(`task0000001 run 1  worker-a[31m pid ${owner.pid}  alive`);
  expect(words.stdout).not.toContain('\u001b');
  const out = join(folder, 'work.patch');
  for (const act of [['remove'], ['release'], ['export', '--to', out]]) {
    const refused = await copies(...act, String(first));
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/its lock is held/);
  }

  await owner.kill();
  const early = await copies('remove', String(first));
  expect(early).toMatchObject({ code: 1, stdout: '' });
  expect(early.stderr).toMatch(/Only a quarantined copy .* The sweep sees to others/);
  for (const id of [first, second, third]) breakCapture(dataDir, id);
  expect((await runCommand(dataDir, sweepCommand())).code).toBe(1);
  expect(of(await json(), first)).toMatchObject({ alive: false, quarantined: { why: expect.any(String) } });
  expect((await copies()).stdout).toMatch(/dead .* in quarantine: its work could not be captured/);
  const shown = await copies('show', String(first));
  expect(shown.stdout).toMatch(/^quarantine +its work could not be captured.* pid \d+, 20\d\d-/m);

  const head = (id: string | undefined) => join(dataDir, 'copies', 'ctl', String(id), 'cap.git', 'HEAD');
  for (const id of [first, second]) writeFileSync(head(id), 'ref: refs/heads/main\n');

  const exported = await json('export', String(first), '--to', out);
  expect(exported).toMatchObject({ id: first, by: me, file: out, partial: false });
  expect(readFileSync(out, 'utf8')).toContain('+what the agent did in task0000000');
  const again = await copies('export', String(first), '--to', out);
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain('it must be a new file');
  expect(ledgerOf(dataDir, first)).toContainEqual(
    expect.objectContaining({ event: 'exported', by: me, sha256: exported.sha256 }),
  );

  expect(await copies('release', String(second))).toMatchObject({ code: 0, stderr: '' });
  expect(ledgerOf(dataDir, second).at(-1)).toMatchObject({ event: 'released', by: me });
  expect((await runCommand(dataDir, sweepCommand())).stdout).toMatch(/1 removed/);
  expect((await copies('show', String(second))).stdout).toMatch(
    /is gone\n(.*\n)*removal +dead_owner_salvaged, done/,
  );

  expect(await copies('remove', String(third))).toMatchObject({ code: 0, stderr: '' });
  expect(await json('show', String(third))).toMatchObject({
    ...{ copy: null, receipts: [], tombstone: { reason: 'removed_by_person', receipt: null, phase: 'done' } },
  });
  expect(ledgerOf(dataDir, third).at(-1)).toMatchObject({
    event: 'removed',
    reason: 'removed_by_person',
    by: me,
  });
  expect((await json()).map(({ id }: { id: string }) => id)).toEqual([first]);
});

it('says what is damaged, what never was, and what is no id', async () => {
  const dataDir = temporaryFolder();
  const copies = (...args: string[]) => runCommand(dataDir, copiesCommand(), ...args);
  expect(await copies()).toMatchObject({ code: 0, stdout: 'There are no copies.\n' });
  for (const act of [['show'], ['release'], ['remove'], ['export', '--to', join(dataDir, 'x')]]) {
    const { code, stdout, stderr } = await copies(...act, 'nobody');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^copies: There is nothing here\. \(.*copy nobody/);
  }
  writeFileSync(join(dataDir, 'tombstones', 'broken.json'), '{');
  expect((await copies('show', 'broken')).stdout).toMatch(/^damaged +the tombstone cannot be read$/m);
  renameSync(join(dataDir, 'tombstones', 'broken.json'), join(dataDir, 'broken.json'));
  expect(await copies('show', '../broken')).toMatchObject({ code: 2, stdout: '' });
  expect(await copies('bogus')).toMatchObject({ code: 2, stdout: '' });
  expect(await copies('export', 'nobody')).toMatchObject({ code: 2, stdout: '' });
});
