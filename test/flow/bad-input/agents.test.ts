/** Agents that misbehave, through `lanekeeper start`: each ends in a reason on its issue, and nothing else is hurt. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Stage } from '../../demo/stage.ts';
import { waitFor } from '../../demo/watch.ts';
import { contained } from '../../lanes/work/run-support.ts';
import { until } from '../../support/until.ts';

const agent = fileURLToPath(new URL('../../fixtures/agents/rogue.mjs', import.meta.url));
const config = `
lanes:
  rogue:
    label: "lane/🚀 rogue"
    agent: { kind: command, run: [node, ${JSON.stringify(agent)}] }
    writes: true
    concurrency: 3
    maxRuns: 1
    timeoutMinutes: 0.75
    checks:
      unit: { run: [sh, -c, "test -e fixed || test -e /tmp/fixed || test -e .git/fixed"], proves: ["*"], protect: ["test/**"] }
grants:
  demo-worker: ["lane:rogue"]
`;
const body = '## Acceptance criteria\n\n- [ ] AC-1: it is done\n';

let stage: Stage;

/** Resident memory of Lanekeeper's own processes at their highest, in bytes: those that run its source. */
function highestMemory(): number {
  const sizes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        if (!/app\/(?:cli\/main|worker)\.[jt]s/.test(environment)) return [];
        const size = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
        return size === undefined ? [] : [Number(size) * 1024];
      } catch {
        return [];
      }
    });
  return Math.max(0, ...sizes);
}

/** Opens an issue for an attack, labels it, and gives back its last note once it is parked or complete. */
async function attack(mode: string): Promise<string> {
  const { people, owner, repo } = stage.watched;
  const { data } = await people.issues.create({ owner, repo, title: `mode: ${mode}`, body });
  const at = { owner, repo, issue_number: data.number };
  await people.issues.addLabels({ ...at, labels: ['lane/🚀 rogue'] });
  await waitFor(stage.watched, data.number, `${mode} has its note`, ({ notes }) => notes.length > 0, 150_000);
  const { data: comments } = await people.issues.listComments(at);
  const { data: issue } = await people.issues.get(at);
  return `${issue.state}\n${comments.at(-1)?.body ?? ''}`;
}

describe.runIf(contained)('an agent', () => {
  beforeAll(async () => {
    stage = await openStage({ PATH: process.env.PATH }, config);
  }, 120_000);
  afterAll(async () => {
    // Node cannot remove what is deeper than a path can name.
    execFileSync('rm', ['-rf', join(stage.dataDir, 'copies')]);
    await stage.close();
  }, 120_000);

  const invalid = 'its result was not valid';
  const unproven = 'not verified';
  test.concurrent.each([
    ['empty', invalid, 'it is empty'],
    ['prose', invalid, 'it is not JSON'],
    ['huge', invalid, 'larger than'],
    ['fifo', invalid, 'not an ordinary file'],
    ['symlink', invalid, 'symbolic link'],
    ['nothing', invalid, 'the agent wrote none'],
    ['nested', invalid, 'of the wrong type'],
    ['prototype', invalid, 'a field that the contract does not know'],
    ['unknown', 'a criterion that does not exist', 'constructor'],
    ['forbidden', '/lane waive', 'open'],
    ['elsewhere', unproven, 'outside this repository'],
    ['protected', unproven, 'protected by'],
    ['outside', unproven, 'failed with exit'],
    ['forks', unproven, 'failed with exit'],
    ['hangs', 'longer than', 'run'],
    ['prints', 'exited with code 3', 'the last words'],
    ['deep', unproven, 'The patch does not hold'],
    ['locked', unproven, 'failed with exit'],
    ['names', unproven, 'failed with exit'],
    ['removes', unproven, 'protected by'],
  ])('that does "%s" is parked, and the note says so', { timeout: 240_000 }, async (mode, ...words) => {
    const seen = await attack(mode);
    expect(seen).toMatch(/^open\n/);
    for (const word of words) expect(seen).toContain(word);
  });

  test('that writes hostile words cannot ping, close, hide or leak with them', async () => {
    const seen = (await attack('injects')).split('\n').slice(2).join('\n');
    expect(seen).not.toMatch(/@maria|(?:fixes|closes) (?:acme\/shop)?#\d/);
    expect(seen).not.toMatch(/<!--|<img|<script|!\[|ghs_A|github_pat_B/);
  });

  test('that looks for credentials finds none: in no process, file or port', async () => {
    const loot = /loot: (\[.*\])/.exec(await attack('steals'))?.[1];
    const found: string[] = JSON.parse(loot ?? 'null');
    // Other tests' Redis on this machine may let everybody in; ours must not.
    const { port } = new URL(readFileSync(join(stage.dataDir, 'redis.url'), 'utf8'));
    expect(found.filter((one) => !one.startsWith('port ') || one === `port ${port}`)).toEqual([]);
  });

  test('whatever it left, its patch stays and its copy goes, but for the one that no patch holds whole', async () => {
    const left = (part: string) => readdirSync(join(stage.dataDir, 'copies', part));
    await until(
      'the other copies are gone',
      async () => left('ctl').length === 1 && left('grave').length === 0,
    );
    expect(left('work').map((id) => readdirSync(join(stage.dataDir, 'copies', 'work', id)))).toEqual([
      expect.arrayContaining(['deep-deep-deep']),
    ]);
    const patches = readdirSync(join(stage.dataDir, 'outbox')).filter((name) => name.endsWith('.patch'));
    expect(patches.length).toBeGreaterThan(20);
  });

  test('that keeps to the contract still gets its turn, in bounded memory', async () => {
    expect(await attack('well')).toMatch(/^open\n/);
    expect(highestMemory()).toBeGreaterThan(0);
    expect(highestMemory()).toBeLessThan(400 * 1024 * 1024);
  });
});
