import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LaneError } from '../../../lanes/errors.ts';
import type { MachineEvent } from '../../../lanes/records/machine-events.ts';
import { runEndSchema } from '../../../lanes/records/runs.ts';
import { findReceipts } from '../../../lanes/work/outbox.ts';
import type { RunOrder, RunOutcome, SupervisorDeps } from '../../../lanes/work/run-room.ts';
import { superviseRun } from '../../../lanes/work/supervisor.ts';
import { agentRun, contained, makeCriteria, makeLane, makeSetting, type RunSetting } from './run-support.ts';
import { put, sh, temporaryFolder } from './support.ts';

const unit = { run: ['grep', '-q', 'fixed', 'work.txt'], proves: ['*'] };

function command(name: string, ...args: string[]) {
  return { kind: 'command', run: agentRun(name, ...args) };
}

/** A run whose outcome, where it is an end, is one that the store takes. */
async function run(deps: SupervisorDeps, order: RunOrder): Promise<RunOutcome> {
  const outcome = await superviseRun(deps, order);
  if (outcome.kind !== 'stopped' && outcome.kind !== 'not_allowed') runEndSchema.parse(outcome);
  return outcome;
}

/** What is still there of copies. */
function copiesOf({ place }: RunSetting): string[] {
  return [place.ctlDir, place.workDir, place.graveDir].flatMap((folder) => readdirSync(folder));
}

function ledgerOf({ place }: RunSetting): MachineEvent['event'][] {
  const folder = join(place.dataDir, 'ledger');
  const lines = readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').trim().split('\n'),
  );
  return lines.map((line) => (JSON.parse(line) as MachineEvent).event);
}

async function patchText({ place }: RunSetting): Promise<string> {
  const receipt = (await findReceipts(place, 'task0000001')).at(-1);
  return receipt ? readFileSync(join(place.outboxDir, `${receipt.copy}.result.patch`), 'utf8') : '';
}

describe.runIf(contained)('a run', () => {
  test('of an agent that does its work ends with verified verdicts, its patch, and no copy', async () => {
    const setting = await makeSetting({ criteria: makeCriteria('aa', 'bb') });
    const lane = makeLane({ agent: command('completes', 'work.txt=fixed'), writes: true, checks: { unit } });
    expect(await run(setting.deps, setting.order({ lane }))).toMatchObject({
      kind: 'result',
      outcome: 'done',
      summary: 'All is done.',
      dispositions: [
        { criterion: 'aa', kind: 'met', evidence: [{ standing: 'verified' }] },
        { criterion: 'bb', kind: 'met', evidence: [{ standing: 'verified' }] },
      ],
      notices: [],
      patch: { run: 1, worker: 'worker-a', files: 1, partial: false },
    });
    expect(setting.begun).toMatchObject([{ run: 1 }]);
    expect(copiesOf(setting)).toEqual([]);
    const story = ['copy_created', 'run_started', 'run_exited', 'captured', 'removed'];
    expect(ledgerOf(setting).filter((event) => event !== 'kill_intent')).toEqual(story);
  });

  test('in a lane that does not write proves nothing by what its agent changed', async () => {
    const setting = await makeSetting();
    const lane = makeLane({ agent: command('completes', 'work.txt=fixed'), checks: { unit } });
    const end = await run(setting.deps, setting.order({ lane }));
    expect(end).toMatchObject({ kind: 'result', dispositions: [{ evidence: [{ standing: 'asserted' }] }] });
    expect(end).not.toHaveProperty('patch');
    expect(end).toMatchObject({ notices: [expect.stringContaining('does not write')] });
    expect(await patchText(setting)).toContain('+fixed');
  });

  test('gives its agent the task, the prompt, a home of its own, and no variable beyond the list', async () => {
    const setting = await makeSetting({ input: { instructions: 'Be kind.' } });
    const lane = makeLane({
      agent: { ...command('tells'), env: ['MODEL_KEY', 'MISSING'] },
      checks: { unit },
    });
    const worker = { ...setting.deps.worker, MODEL_KEY: 'key-0123456789', OTHER_KEY: 'other-0123456789' };
    const end = await run({ ...setting.deps, worker }, setting.order({ lane }));
    expect(end).toMatchObject({ kind: 'result', outcome: 'needs_person', question: 'Is that all?' });
    const told = JSON.parse(end.kind === 'result' ? end.summary : '');
    expect(told).toMatchObject({
      task: { v: 1, run: 1, instructions: 'Be kind.', checks: [{ name: 'unit', proves: ['aa'] }] },
      prompt: true,
      folder: ['.git', 'README.md'],
      // What was handed over does not come back in the agent's words.
      key: '[hidden]',
    });
    const expected = [
      'HOME',
      'LANEKEEPER_RUN',
      'LANES_PROMPT_FILE',
      'LANES_RESULT_FILE',
      'LANES_TASK_FILE',
      'LANG',
    ];
    const allowed = new Set([...expected, 'MODEL_KEY', 'PATH', 'PWD', 'TMPDIR', 'TZ']);
    expect(told.env.filter((name: string) => !allowed.has(name))).toEqual([]);
    expect(told.env).toEqual(expect.arrayContaining(expected));
    expect(told.home.startsWith(setting.place.ctlDir)).toBe(true);
  });

  test('leaves no process of its agent behind, and nothing late in its patch', async () => {
    const setting = await makeSetting();
    const lane = makeLane({ agent: command('forks'), writes: true });
    expect(await run(setting.deps, setting.order({ lane }))).toMatchObject({ kind: 'result' });
    const survivors = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('late.txt');
        } catch {
          return false;
        }
      });
    expect(survivors).toEqual([]);
    expect(copiesOf(setting)).toEqual([]);
  });

  test('that hangs is ended at its deadline, with its work kept', async () => {
    const setting = await makeSetting();
    const lane = makeLane({ agent: command('hangs'), writes: true, timeoutMinutes: 1.5 / 60 });
    expect(await run(setting.deps, setting.order({ lane }))).toMatchObject({
      kind: 'died',
      death: { kind: 'timeout', afterMs: 1_500 },
      tail: 'hanging\n',
      patch: { files: 1 },
    });
    expect(await patchText(setting)).toContain('+half of the work');
    expect(copiesOf(setting)).toEqual([]);
  });

  test('that prints a gigabyte and fails dies with its last words, in bounded memory', async () => {
    const setting = await makeSetting();
    const before = process.memoryUsage().rss;
    const end = await run(setting.deps, setting.order({ lane: makeLane({ agent: command('prints') }) }));
    expect(end).toEqual({ kind: 'died', death: { kind: 'exit', code: 3 }, tail: 'the last words\n' });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  test.each([
    ['nothing', 'the agent wrote none'],
    ['fifo', 'it is not an ordinary file'],
    ['symlink', 'it is a symbolic link'],
    ['link', 'it is a hard link to another file'],
    ['directory', 'it is not an ordinary file'],
    ['huge', 'it is larger than 1048576 bytes'],
  ])('with exit 0 and %s for a result dies', async (place, why) => {
    const setting = await makeSetting();
    const lane = makeLane({ agent: command('places', place) });
    const end = await run(setting.deps, setting.order({ lane }));
    expect(end).toMatchObject({ kind: 'died', death: { kind: 'invalid_result', why } });
    expect(copiesOf(setting)).toEqual([]);
  });

  test('with garbage for a result dies', async () => {
    const setting = await makeSetting();
    const lane = makeLane({ agent: command('says', 'not a result') });
    expect(await run(setting.deps, setting.order({ lane }))).toMatchObject({
      kind: 'died',
      death: { kind: 'invalid_result', why: 'it is not JSON in UTF-8' },
    });
  });

  test.each(['required', 'none'])(
    'whose agent removes its own copy, containment %s, says so and hurts nothing else',
    async (containment) => {
      const setting = await makeSetting({ files: { 'a.txt': 'a\n', 'b/c.txt': 'c\n' } });
      const lane = makeLane({ agent: command('removes'), writes: true, containment });
      expect(await run(setting.deps, setting.order({ lane }))).toMatchObject({
        kind: 'result',
        dispositions: [{ kind: 'met', evidence: [] }],
        notices: expect.arrayContaining(['The agent removed the whole checkout.']),
      });
      expect(copiesOf(setting)).toEqual([]);
      const again = makeLane({ agent: command('completes', 'work.txt=fixed'), checks: { unit } });
      expect(await run(setting.deps, setting.order({ lane: again, run: 2 }))).toMatchObject({
        kind: 'result',
      });
    },
  );
});

describe.runIf(contained)('a run that goes on', () => {
  async function afterOneRun(): Promise<RunSetting> {
    const setting = await makeSetting({ files: { 'work.txt': 'one\n', 'other.txt': 'other\n' } });
    const lane = makeLane({ agent: command('completes', 'work.txt=fixed'), writes: true });
    await run(setting.deps, setting.order({ lane }));
    return setting;
  }

  const telling = makeLane({ agent: command('tells'), writes: true });

  test('finds the earlier patch in its copy', async () => {
    const setting = await afterOneRun();
    const end = await run(setting.deps, setting.order({ lane: telling, run: 2 }));
    expect(end).toMatchObject({ kind: 'result', notices: [], patch: { run: 2, files: 1 } });
    const told = JSON.parse(end.kind === 'result' ? end.summary : '');
    expect(told.task.earlierPatch).toEqual({ state: 'restored', run: 1 });
    expect(await patchText(setting)).toContain('+fixed');
  });

  test('gets the earlier patch as a file where it does not apply any more', async () => {
    const setting = await afterOneRun();
    put(setting.remote, 'work.txt', 'changed by somebody else\n');
    sh(setting.remote, 'git', 'commit', '-qam', 'another change');
    const end = await run(setting.deps, setting.order({ lane: telling, run: 2 }));
    expect(end).toMatchObject({ kind: 'result', notices: [expect.stringContaining('does not apply')] });
    const told = JSON.parse(end.kind === 'result' ? end.summary : '');
    expect(told.task.earlierPatch).toMatchObject({ state: 'does_not_apply', run: 1 });
    expect(told.earlier).toContain('+fixed');
  });

  test('says so where the earlier patch lies on another worker', async () => {
    const setting = await makeSetting();
    const patch = { copy: 'c', worker: 'worker-b', run: 1, base: 'b', tree: 't', sha256: '0'.repeat(64) };
    const task = { patch: { ...patch, bytes: 10, files: 1, partial: false } };
    const end = await run(setting.deps, setting.order({ lane: telling, run: 2, task }));
    expect(end).toMatchObject({ notices: [expect.stringContaining('worker-b')] });
  });

  test('finds the patch of a run whose lease was lost before its record', async () => {
    const setting = await makeSetting({ files: { 'work.txt': 'one\n' } });
    const lane = makeLane({ agent: command('hangs'), writes: true });
    const controller = new AbortController();
    const { place } = setting.deps;
    const point = async (name: string) => {
      if (name !== 'run.spawned') return;
      await untilFile(place.workDir, 'half-done.txt');
      controller.abort('lease_lost');
    };
    const deps = { ...setting.deps, place: { ...place, point } };
    const stopped = await run(deps, setting.order({ lane, signal: controller.signal }));
    expect(stopped).toEqual({ kind: 'stopped', why: 'lease_lost' });
    expect(copiesOf(setting)).toEqual([]);
    const end = await run(setting.deps, setting.order({ lane: telling, run: 2 }));
    const told = JSON.parse(end.kind === 'result' ? end.summary : '');
    expect(told.folder).toContain('half-done.txt');
  });
});

/** Waits until the only copy holds a file. */
async function untilFile(workDir: string, name: string): Promise<void> {
  const isThere = () => readdirSync(workDir).some((copy) => existsSync(join(workDir, copy, name)));
  await expect.poll(isThere, { timeout: 20_000 }).toBe(true);
}

describe.runIf(contained)('a run that is told to stop', () => {
  test.each(['shutdown', 'cancelled', 'lease_lost'] as const)(
    'for %s ends its agent and keeps its work',
    async (why) => {
      const setting = await makeSetting();
      const controller = new AbortController();
      const { place } = setting.deps;
      const point = async (name: string) => {
        if (name !== 'run.spawned') return;
        await untilFile(place.workDir, 'half-done.txt');
        controller.abort(why);
      };
      const lane = makeLane({ agent: command('hangs') });
      const deps = { ...setting.deps, place: { ...place, point } };
      const outcome = await run(deps, setting.order({ lane, signal: controller.signal }));
      expect(outcome).toEqual({ kind: 'stopped', why });
      expect(await patchText(setting)).toContain('+half of the work');
      expect(copiesOf(setting)).toEqual([]);
    },
  );

  test('before it has begun makes no copy', async () => {
    const setting = await makeSetting();
    const lane = makeLane({ agent: command('completes') });
    const signal = AbortSignal.abort('shutdown');
    expect(await run(setting.deps, setting.order({ lane, signal }))).toEqual({
      kind: 'stopped',
      why: 'shutdown',
    });
    expect(setting.begun).toEqual([]);
    expect(copiesOf(setting)).toEqual([]);
  });

  test('while a check runs ends the check and records nothing', async () => {
    const setting = await makeSetting();
    const controller = new AbortController();
    const { place } = setting.deps;
    const slow = { run: ['sh', '-c', 'echo started >"$TMPDIR/started"; sleep 600'], proves: ['*'] };
    const lane = makeLane({ agent: { kind: 'checks' }, checks: { slow } });
    const running = run(setting.deps, setting.order({ lane, signal: controller.signal }));
    const started = () =>
      readdirSync(place.ctlDir).some((copy) =>
        existsSync(join(place.ctlDir, copy, 'proof/0/io/tmp/started')),
      );
    await expect.poll(started, { timeout: 20_000 }).toBe(true);
    controller.abort('cancelled');
    expect(await running).toEqual({ kind: 'stopped', why: 'cancelled' });
    expect(copiesOf(setting)).toEqual([]);
  });
});

describe('a run that cannot be', () => {
  const lane = makeLane({ agent: command('completes'), containment: 'none' });

  test('is not begun where the App does not allow it', async () => {
    const setting = await makeSetting();
    setting.host.answer = { allowed: false, why: 'the label is gone' };
    const outcome = await run(setting.deps, setting.order({ lane }));
    expect(outcome).toEqual({ kind: 'not_allowed', why: 'the label is gone' });
    expect(copiesOf(setting)).toEqual([]);
  });

  test('stops at a begin that is refused for a lost lease, and removes its copy', async () => {
    const setting = await makeSetting();
    const begin = () => Promise.reject(new LaneError('lease_lost'));
    const outcome = await run({ ...setting.deps, begin }, setting.order({ lane }));
    expect(outcome).toEqual({ kind: 'stopped', why: 'lease_lost' });
    expect(copiesOf(setting)).toEqual([]);
  });

  test('stops without an end of its own where the App cannot be asked', async () => {
    const setting = await makeSetting();
    setting.host.allowed = () => Promise.reject(new LaneError('github_failed'));
    const outcome = await run(setting.deps, setting.order({ lane }));
    expect(outcome).toEqual({ kind: 'stopped', why: 'app_unreachable' });
  });

  test('is unable where the repository has no commit', async () => {
    const empty = temporaryFolder();
    sh(empty, 'git', 'init', '-q', '.');
    const setting = await makeSetting({ input: { clone: { url: `file://${empty}` } } });
    const outcome = await run(setting.deps, setting.order({ lane }));
    expect(outcome).toMatchObject({ kind: 'unable', reason: 'empty_repository' });
  });

  test('dies where the repository cannot be fetched, and names no folder of the worker', async () => {
    const setting = await makeSetting({ input: { clone: { url: 'file:///nowhere/at/all' } } });
    const outcome = await run(setting.deps, setting.order({ lane }));
    expect(outcome).toMatchObject({ kind: 'died', death: { kind: 'failed', code: 'git_failed' } });
    expect(JSON.stringify(outcome)).not.toContain(setting.place.dataDir);
  });

  test('is unable where no containment works and the lane requires one', async () => {
    const setting = await makeSetting();
    const levels = setting.deps.levels.filter(({ level }) => level === 'none');
    const order = setting.order({ lane: makeLane({ agent: command('completes') }) });
    const outcome = await run({ ...setting.deps, levels }, order);
    expect(outcome).toMatchObject({ kind: 'unable', reason: 'containment_unavailable' });
    expect(copiesOf(setting)).toEqual([]);
  });

  test.each([
    ['whose program is not there', { kind: 'command', run: ['no-such-program-anywhere'] }],
    ['whose program is a folder', { kind: 'command', run: ['/usr'] }],
    [
      'whose lane would hand over a credential of ours',
      { ...command('completes'), env: ['LANES_CREDENTIALS'] },
    ],
  ])('of an agent %s is unable', async (_fact, agent) => {
    const setting = await makeSetting();
    const order = setting.order({ lane: makeLane({ agent, containment: 'none' }) });
    const outcome = await run(setting.deps, order);
    expect(outcome).toMatchObject({ kind: 'unable', reason: 'agent_unavailable' });
    expect(copiesOf(setting)).toEqual([]);
  });

  test('whose work cannot be captured keeps its copy, and says that the disk is at fault', async () => {
    const setting = await makeSetting();
    const point = (name: string) => {
      if (name !== 'result.begin') return;
      throw new LaneError('disk', 'the outbox is full');
    };
    const deps = { ...setting.deps, place: { ...setting.place, point } };
    const order = setting.order({
      lane: makeLane({ agent: command('completes', 'a=b'), containment: 'none' }),
    });
    expect(await run(deps, order)).toMatchObject({ kind: 'unable', reason: 'disk' });
    const [copy = ''] = readdirSync(setting.place.workDir);
    expect(readFileSync(join(setting.place.workDir, copy, 'a'), 'utf8')).toBe('b\n');
  });

  test('whose copy cannot be removed keeps its result', async () => {
    const setting = await makeSetting();
    const point = (name: string) => {
      if (name === 'rm.tombstoned') throw new LaneError('disk');
    };
    const deps = { ...setting.deps, place: { ...setting.place, point } };
    expect(await run(deps, setting.order({ lane }))).toMatchObject({ kind: 'result' });
    expect(copiesOf(setting)).not.toEqual([]);
    expect(ledgerOf(setting)).toContain('removal_refused');
  });
});

describe.runIf(contained)('a lane of checks', () => {
  const passes = { run: ['grep', '-q', 'hello', 'README.md'] };

  test('says met where every mapped check passed, and not_met with what failed', async () => {
    const setting = await makeSetting({ criteria: makeCriteria('aa', 'bb', 'cc') });
    const lane = makeLane({
      checks: {
        good: { ...passes, proves: ['the work aa', 'the work bb'] },
        bad: { run: ['sh', '-c', 'exit 7'], proves: ['the work bb'] },
      },
    });
    const end = await run(setting.deps, setting.order({ lane }));
    expect(end).toMatchObject({
      kind: 'result',
      outcome: 'done',
      dispositions: [
        { criterion: 'aa', kind: 'met', evidence: [{ standing: 'verified' }] },
        { criterion: 'bb', kind: 'not_met', reason: expect.stringContaining('bad: failed with exit 7') },
      ],
    });
    expect(copiesOf(setting)).toEqual([]);
  });

  test('with nothing mapped is unable, says what was found, and makes no copy', async () => {
    const setting = await makeSetting({ criteria: makeCriteria('aa', 'bb') });
    const order = setting.order({ lane: makeLane({ checks: { good: passes } }) });
    expect(await run(setting.deps, order)).toEqual({
      kind: 'unable',
      reason: 'nothing_to_check',
      detail: expect.stringMatching(/^2 criteria were found\. No check of lane triage \(good\)/),
    });
    expect(setting.begun).toEqual([]);
  });

  test("uses the repository's mapping of the operator's checks", async () => {
    const setting = await makeSetting({ input: { proves: { good: ['*'] } } });
    const order = setting.order({ lane: makeLane({ checks: { good: passes } }) });
    expect(await run(setting.deps, order)).toMatchObject({ dispositions: [{ kind: 'met' }] });
  });
});
