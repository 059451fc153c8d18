import { describe, expect, test } from 'vitest';
import { LaneError } from '../../../../lanes/errors.ts';
import type { Evidence, WeighedEvidence } from '../../../../lanes/records/dispositions.ts';
import type { RunOutcome } from '../../../../lanes/work/run-room.ts';
import { superviseRun } from '../../../../lanes/work/supervisor.ts';
import { agentRun, contained, makeLane, makeSetting, type RunSetting } from '../run-support.ts';
import { sh } from '../support.ts';

const home = 'https://git.example/acme/shop';

/** A run of an agent that says `met` for the one criterion, on this evidence, after changing these files. */
async function claimed(
  setting: RunSetting,
  evidence: Evidence[],
  options: { changes?: string[]; lane?: Record<string, unknown> } = {},
): Promise<RunOutcome> {
  const result = { outcome: 'done', dispositions: [{ criterion: 'aa', disposition: 'met', evidence }] };
  const script = `${(options.changes ?? []).join('\n')}\ncat >"$LANES_RESULT_FILE" <<'RESULT'\n${JSON.stringify(result)}\nRESULT\n`;
  const agent = { kind: 'command', run: ['sh', '-e', '-c', script] };
  const lane = makeLane({ agent, writes: true, ...options.lane });
  return await superviseRun(setting.deps, setting.order({ lane }));
}

function weighed(outcome: RunOutcome): WeighedEvidence[] {
  if (outcome.kind !== 'result') throw new Error(JSON.stringify(outcome));
  return outcome.dispositions.flatMap(({ evidence }) => evidence);
}

function standings(outcome: RunOutcome): string[] {
  return weighed(outcome).map(({ standing }) => standing);
}

const check: Evidence[] = [{ kind: 'check', name: 'unit' }];
const files = { 'src/a.js': 'as it was\n', 'test/a.sh': 'grep -q new src/a.js\n', '.gitignore': 'build\n' };
const unit = { run: ['sh', 'test/a.sh'], proves: ['*'], protect: ['test/**'] };

describe.runIf(contained)('a check', () => {
  test('that passes on the captured tree is verified', async () => {
    const setting = await makeSetting({ files });
    const end = await claimed(setting, check, {
      changes: ['echo new >src/a.js'],
      lane: { checks: { unit } },
    });
    expect(weighed(end)).toMatchObject([
      {
        standing: 'verified',
        how: expect.stringMatching(/^passed on a clean checkout of the patched tree [0-9a-f]{12}$/),
      },
    ]);
  });

  test('that fails there is asserted', async () => {
    const end = await claimed(await makeSetting({ files }), check, { lane: { checks: { unit } } });
    expect(weighed(end)).toMatchObject([
      { standing: 'asserted', how: expect.stringContaining('failed with exit 1') },
    ]);
  });

  test('that nobody mapped to the criterion is asserted, and is not run', async () => {
    const setting = await makeSetting({ files });
    const lane = { checks: { unit: { ...unit, proves: ['something else'] } } };
    const end = await claimed(setting, check, { changes: ['echo new >src/a.js'], lane });
    expect(weighed(end)).toMatchObject([
      { standing: 'asserted', how: expect.stringContaining('nobody mapped') },
    ]);
  });

  test('that the lane does not have is asserted', async () => {
    const names: Evidence[] = ['other', 'toString', '__proto__'].map((name) => ({ kind: 'check', name }));
    const end = await claimed(await makeSetting({ files }), names, { lane: { checks: { unit } } });
    expect(standings(end)).toEqual(['asserted', 'asserted', 'asserted']);
  });

  test.each([
    ['changes', 'echo true >test/a.sh'],
    ['removes', 'rm test/a.sh'],
    ['adds', 'echo x >test/b.sh'],
    ['renames away', 'git mv test/a.sh a.sh'],
    ['renames to', 'git mv src/a.js test/a.js'],
    ['makes a link of', 'mv test real; ln -s real test'],
    ['commits a change of', 'echo true >test/a.sh; git commit -qam x'],
  ])('is asserted where the patch %s what it is protected by', async (_how, change) => {
    const setting = await makeSetting({ files });
    const changes = ['echo new >src/a.js || true', change];
    const end = await claimed(setting, check, { changes, lane: { checks: { unit } } });
    expect(weighed(end)).toMatchObject([
      { standing: 'asserted', how: expect.stringContaining('protected by') },
    ]);
  });

  test('is not fooled by what lies outside the tree', async () => {
    const setting = await makeSetting({ files });
    const lane = { checks: { unit: { ...unit, run: ['test', '-e', 'build/passed'] } } };
    const changes = ['mkdir build && touch build/passed', 'touch "$HOME/passed" "$TMPDIR/passed"'];
    expect(standings(await claimed(setting, check, { changes, lane }))).toEqual(['asserted']);
  });

  test('is not fooled by the configuration and hooks of the copy', async () => {
    const setting = await makeSetting({ files });
    const changes = [
      'git config filter.cheat.smudge "echo new"',
      'mkdir -p .git/info; echo "src/a.js filter=cheat" >.git/info/attributes',
      'mkdir -p .git/hooks; printf "#!/bin/sh\\necho new >src/a.js\\n" >.git/hooks/post-checkout',
      'chmod +x .git/hooks/post-checkout',
    ];
    expect(standings(await claimed(setting, check, { changes, lane: { checks: { unit } } }))).toEqual([
      'asserted',
    ]);
  });

  test('is not fooled by another check that ran before it', async () => {
    const setting = await makeSetting({ files });
    const first = { run: ['sh', '-c', 'echo true >test/a.sh; echo new >src/a.js'], proves: ['*'] };
    const both: Evidence[] = [{ kind: 'check', name: 'first' }, ...check];
    const end = await claimed(setting, both, { lane: { checks: { first, unit } } });
    expect(standings(end)).toEqual(['verified', 'asserted']);
  });

  test('is run once, however often it is named', async () => {
    const setting = await makeSetting({ files });
    const lane = { checks: { unit: { ...unit, run: ['true'] } } };
    const folders: string[] = [];
    const real = setting.deps.levels;
    setting.deps = {
      ...setting.deps,
      levels: real.map((level) => ({
        ...level,
        contain: (request) => {
          folders.push(request.cwd);
          return level.contain(request);
        },
      })),
    };
    const end = await claimed(setting, [...check, ...check, ...check], { lane });
    expect(standings(end)).toEqual(['verified', 'verified', 'verified']);
    expect(folders.filter((folder) => folder.includes('/proof/'))).toHaveLength(1);
  });

  test('whose program this worker does not have is asserted, and the run goes on', async () => {
    const lane = { checks: { unit: { ...unit, run: ['no-such-program-anywhere'] } } };
    const end = await claimed(await makeSetting({ files }), check, { lane });
    expect(weighed(end)).toMatchObject([
      { standing: 'asserted', how: expect.stringContaining('could not be started') },
    ]);
  });

  test('that does not end is asserted at its deadline', async () => {
    const lane = { checks: { unit: { ...unit, run: ['sleep', '600'], timeoutMinutes: 1 / 60 } } };
    const end = await claimed(await makeSetting({ files }), check, { lane });
    expect(weighed(end)).toMatchObject([
      { standing: 'asserted', how: expect.stringContaining('did not end within') },
    ]);
  });

  test('sees an ordinary repository', async () => {
    const run = ['sh', '-c', 'git status --porcelain | grep -q . && exit 9; git log -1 --format=%s HEAD~1'];
    const lane = { checks: { unit: { ...unit, run } } };
    const end = await claimed(await makeSetting({ files }), check, { changes: ['echo new >src/a.js'], lane });
    expect(standings(end)).toEqual(['verified']);
  });
});

describe.runIf(contained)('a file', () => {
  test('is verified by what stands in the captured tree', async () => {
    const setting = await makeSetting({ files });
    const evidence: Evidence[] = [
      { kind: 'file', path: 'src/a.js' },
      { kind: 'file', path: 'src/a.js', contains: 'brand new' },
      { kind: 'file', path: 'src/a.js', contains: 'as it was' },
      { kind: 'file', path: 'src/a.js', contains: ' ' },
    ];
    const end = await claimed(setting, evidence, { changes: ['echo brand new >src/a.js'] });
    expect(standings(end)).toEqual(['verified', 'verified', 'asserted', 'asserted']);
  });

  test.each([
    ['that is ignored, and so not in the tree', 'build/out.txt'],
    ['outside the repository', '../../../etc/passwd'],
    ['by its absolute path', '/etc/passwd'],
    ['that is a link', 'link'],
    ['behind a link', 'folder/passwd'],
    ['that is a folder', 'src'],
    ['named like a pattern', 'src/*'],
    ['named with NUL', 'src/a.js\0'],
    ['in the git folder', '.git/config'],
    ['that is too large', 'large'],
  ])('%s is asserted', async (_fact, path) => {
    const setting = await makeSetting({ files });
    const changes = ['mkdir build && echo x >build/out.txt', 'ln -s /etc/passwd link', 'ln -s /etc folder'];
    const large = 'head -c 6000000 /dev/zero >large';
    const end = await claimed(setting, [{ kind: 'file', path }], { changes: [...changes, large] });
    expect(standings(end)).toEqual(['asserted']);
  });
});

describe.runIf(contained)('a commit, and an address', () => {
  test('a commit is verified by the history of the base, without asking anybody', async () => {
    const setting = await makeSetting({ files });
    const sha = sh(setting.remote, 'git', 'rev-parse', 'HEAD');
    const evidence: Evidence[] = [
      { kind: 'commit', sha },
      { kind: 'commit', sha: sha.slice(0, 8).toUpperCase() },
      { kind: 'url', url: `${home}/commit/${sha}` },
    ];
    expect(standings(await claimed(setting, evidence))).toEqual(['verified', 'verified', 'verified']);
    expect(setting.host.asked).toEqual([]);
  });

  test('a commit that a push took out of the history is asked of the App', async () => {
    const setting = await makeSetting({ files });
    const sha = sh(setting.remote, 'git', 'rev-parse', 'HEAD');
    await claimed(setting, []);
    sh(setting.remote, 'git', 'commit', '-q', '--amend', '-m', 'another history');
    expect(standings(await claimed(setting, [{ kind: 'commit', sha }]))).toEqual(['asserted']);
    expect(setting.host.asked).toEqual([{ kind: 'commit', sha }]);
  });

  test('anything else of the repository is asked of the App, once', async () => {
    const setting = await makeSetting({ files });
    setting.host.found = ({ kind }) => ({ found: kind !== 'run', how: `looked at a ${kind}` });
    const urls = ['pull/5', 'issues/6', 'actions/runs/7', 'pull/5'].map((path) => `${home}/${path}`);
    const evidence: Evidence[] = urls.map((url) => ({ kind: 'url', url }));
    expect(weighed(await claimed(setting, evidence))).toMatchObject([
      { standing: 'verified', how: 'looked at a pull' },
      { standing: 'verified' },
      { standing: 'asserted', how: 'looked at a run' },
      { standing: 'verified' },
    ]);
    expect(setting.host.asked).toEqual([
      { kind: 'pull', number: 5 },
      { kind: 'issue', number: 6 },
      { kind: 'run', id: 7 },
    ]);
  });

  test('an address elsewhere is never asked for', async () => {
    const setting = await makeSetting({ files });
    const urls = ['https://git.example/other/shop/pull/5', 'http://127.0.0.1:1/', 'file:///etc/passwd'];
    const end = await claimed(
      setting,
      urls.map((url) => ({ kind: 'url', url })),
    );
    expect(standings(end)).toEqual(['asserted', 'asserted', 'asserted']);
    expect(setting.host.asked).toEqual([]);
  });

  test('a commit that only the agent made is asserted', async () => {
    const setting = await makeSetting({ files });
    const changes = ['git commit -q --allow-empty -m mine', 'SHA=$(git rev-parse HEAD)'];
    const result =
      '{"outcome":"done","dispositions":[{"criterion":"aa","disposition":"met","evidence":[{"kind":"commit","sha":"%s"}]}]}';
    const script = `${changes.join('\n')}\nprintf '${result}' "$SHA" >"$LANES_RESULT_FILE"`;
    const lane = makeLane({ agent: { kind: 'command', run: ['sh', '-e', '-c', script] }, writes: true });
    expect(standings(await superviseRun(setting.deps, setting.order({ lane })))).toEqual(['asserted']);
    expect(setting.host.asked).toHaveLength(1);
  });

  test('not being able to ask proves nothing, loses no result, and is not tried again', async () => {
    const setting = await makeSetting({ files });
    setting.host.found = () => {
      throw new LaneError('github_failed');
    };
    const evidence: Evidence[] = ['pull/5', 'pull/6'].map((path) => ({
      kind: 'url',
      url: `${home}/${path}`,
    }));
    expect(weighed(await claimed(setting, evidence))).toMatchObject([
      { standing: 'asserted', how: 'GitHub could not be asked' },
      { standing: 'asserted', how: 'GitHub could not be asked' },
    ]);
    expect(setting.host.asked).toHaveLength(1);
  });

  test('an agent cannot make the App ask without bound', async () => {
    const setting = await makeSetting({ files });
    setting.host.found = () => ({ found: true, how: 'found' });
    const dispositions = [0, 1].map((half) => ({
      criterion: 'aa',
      disposition: 'met',
      evidence: Array.from({ length: 50 }, (_none, index) => ({
        kind: 'url',
        url: `${home}/pull/${half * 50 + index + 1}`,
      })),
    }));
    const agent = {
      kind: 'command',
      run: agentRun('says', JSON.stringify({ outcome: 'done', dispositions })),
    };
    await superviseRun(setting.deps, setting.order({ lane: makeLane({ agent }) }));
    expect(setting.host.asked).toHaveLength(50);
  });
});
