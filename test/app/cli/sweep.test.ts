import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { sweepCommand } from '../../../app/cli/sweep.ts';
import { makeRemote, temporaryFolder } from '../../lanes/work/support.ts';
import { breakCapture, type OwnerProcess, startOwner } from '../owners.ts';
import { runCommand } from './command.ts';

let owner: OwnerProcess | undefined;
afterEach(() => owner?.kill());

interface Told {
  readonly id: string;
  readonly step: string;
  readonly why: string;
  readonly outcome?: string;
}

/** Every file below a folder with its content, but for locks, which a look may touch. */
function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'latin1')]));
}

const plain = ({ id, step, why }: Told) => ({ id, step, why });

it('says what it would do and why, and does exactly that; a live owner of the same name keeps all', {
  timeout: 240_000,
}, async () => {
  const dataDir = join(temporaryFolder(), 'var');
  const states = ['ready', 'worked', 'captured', 'worked'] as const;
  owner = await startOwner(makeRemote({ 'a.txt': 'a\n' }), 'worker-a', [{ dataDir, states }]);
  const [ids = []] = owner.ids;
  const sweep = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(dataDir, sweepCommand(), ...args, '--json');
    expect(stderr).toBe('');
    const { copies, ...said } = JSON.parse(stdout) as { copies: Told[] };
    return { code, said, copies: copies.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)) };
  };

  const beside = await sweep();
  expect(beside).toMatchObject({ code: 0, said: { dryRun: false, removed: 0, live: 4 } });
  expect(beside.copies.map(({ step }) => step)).toEqual(Array(4).fill('skip_live'));

  await owner.kill();
  breakCapture(dataDir, ids[3]);
  const before = contentsOf(dataDir);
  const planned = await sweep('--dry-run');
  expect(contentsOf(dataDir)).toEqual(before);
  expect(planned).toMatchObject({
    code: 0,
    said: { dryRun: true, reaper: { instance: 'worker-a', pid: process.pid } },
  });
  expect(planned.copies.map(({ id, step }) => [id, step])).toEqual([
    [ids[0], 'salvage'],
    [ids[1], 'salvage'],
    [ids[2], 'remove'],
    [ids[3], 'salvage'],
  ]);

  const done = await sweep();
  expect(done.copies.map(plain)).toEqual(planned.copies.map(plain));
  expect(done).toMatchObject({ code: 1, said: { removed: 3, quarantined: 1, failed: 0 } });
  const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
  const salvaged = { outcome: 'removed', reason: 'dead_owner_salvaged', patchSha256: sha256 };
  expect(done.copies).toMatchObject([
    salvaged,
    { ...salvaged, task: 'task0000001', run: 1, owner: { pid: owner.pid, instance: 'worker-a' } },
    { outcome: 'removed', reason: 'dead_owner_captured', patchSha256: sha256 },
    { outcome: 'quarantined' },
  ]);

  const left = await runCommand(dataDir, sweepCommand());
  expect(left).toMatchObject({ code: 1, stderr: '' });
  expect(left.stdout).toContain(
    `${ids[3]}  task0000003 run 1  keep_quarantined  quarantined  its work could not`,
  );
  expect(left.stdout).toMatch(/\n1 quarantined\n$/);
  const plan = await runCommand(dataDir, sweepCommand(), '--dry-run');
  expect(plan.code).toBe(1);
  expect(plan.stdout).toMatch(/\nNothing was changed\.\n$/);
});

it('does not make a data directory that is not there', async () => {
  const dataDir = join(temporaryFolder(), 'elsewhere');
  const { code, stdout, stderr } = await runCommand(dataDir, sweepCommand(), '--dry-run');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(`there is no ${dataDir}`);
  expect(existsSync(dataDir)).toBe(false);
});

it('says that there is nothing where there is nothing', async () => {
  const { code, stdout } = await runCommand(temporaryFolder(), sweepCommand());
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'There are no copies.\n' });
});
