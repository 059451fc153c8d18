import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadOperatorFile } from '../../../app/config/operator-file.ts';
import { isConfigError } from '../../../app/config/problems.ts';
import { readRepositoryFile } from '../../../app/config/repository-file.ts';

const root = mkdtempSync(join(tmpdir(), 'lanekeeper-files-'));
const path = join(root, 'lanekeeper.yml');
afterAll(() => rmSync(root, { recursive: true }));

function load(text: string | Buffer) {
  writeFileSync(path, text);
  return loadOperatorFile(path, 'here');
}

function problemsOf(text: string | Buffer): string[] {
  try {
    load(text);
  } catch (error) {
    if (isConfigError(error)) return error.problems.map((line) => line.replace(`${path}:`, ''));
    throw error;
  }
  return [];
}

const lane = (name: string, more = '') => `  ${name}:\n    agent: { kind: checks }\n${more}`;

const full = `
repositories: ["acme/*"]
lanes:
  triage:
    label: "lane:triage"
    namespace: lane:triage
    agent: { kind: command, run: [node, /opt/agents/triage.mjs], env: [ANTHROPIC_API_KEY] }
    writes: false
    concurrency: 2
    maxRuns: 3
    timeoutMinutes: 60
    proof: verified
    containment: required
    onNoCriteria: park
    allowBots: []
    checks:
      unit: { run: [npm, test], timeoutMinutes: 10, proves: ["AC-1", "tests pass"], protect: ["package.json", "test/**"] }
grants:
  worker-a: [main, "lane:*"]
  box-42: ["agent:42"]
`;

describe('the operator file', () => {
  it('is read whole, as the documentation shows it', () => {
    const config = load(full);
    expect(config.repositories).toEqual(['acme/*']);
    expect(config.lanes[0]).toMatchObject({ name: 'triage', namespace: 'lane:triage', concurrency: 2 });
    expect(Object.fromEntries(config.grants)).toEqual({
      'worker-a': ['main', 'lane:triage'],
      'box-42': ['agent:42'],
    });
    expect(config.registry.has('agent:42' as never)).toBe(true);
  });

  it('has a default for everything but the agent', () => {
    expect(load(`lanes:\n${lane('docs')}`).lanes[0]).toEqual({
      name: 'docs',
      label: 'lane:docs',
      namespace: 'lane:docs',
      agent: { kind: 'checks' },
      writes: false,
      concurrency: 1,
      maxRuns: 3,
      timeoutMinutes: 60,
      proof: 'verified',
      containment: 'required',
      onNoCriteria: 'park',
      allowBots: [],
      checks: {},
    });
  });

  it('without grants grants every lane to the local worker; with an empty section, to nobody', () => {
    const lanes = `lanes:\n${lane('docs')}`;
    expect(Object.fromEntries(load(lanes).grants)).toEqual({ here: ['main', 'lane:docs'] });
    expect(load(`${lanes}grants: {}\n`).grants.size).toBe(0);
  });

  it('that does not exist means one lane, triage, that has nothing mapped', () => {
    const config = loadOperatorFile(null, 'here');
    expect(config.lanes).toHaveLength(1);
    expect(config.lanes[0]).toMatchObject({
      name: 'triage',
      label: 'lane:triage',
      agent: { kind: 'checks' },
      checks: {},
    });
    expect(config.repositories).toEqual(['*/*']);
    expect(Object.fromEntries(config.grants)).toEqual({ here: ['main', 'lane:triage'] });
  });

  it.each([
    [
      'a typo',
      `lanes:\n  a:\n    agent: { kind: checks }\n    lable: x\n`,
      '4:5: lanes.a.lable is not a known field.',
    ],
    ['a missing agent', 'lanes:\n  a:\n    writes: true\n', '2:3: lanes.a.agent is missing.'],
    [
      'a wrong type',
      `lanes:\n${lane('a', '    maxRuns: many\n')}`,
      /^4:5: lanes\.a\.maxRuns: .*expected number/,
    ],
    ['a wrong list item', `repositories: [a/b, 3]\nlanes:\n${lane('a')}`, /^1:21: repositories\.1: /],
    ['an unknown agent kind', 'lanes:\n  a:\n    agent: { kind: robot }\n', /^3:14: lanes\.a\.agent\.kind: /],
    ['a bad lane name', `lanes:\n${lane('A B')}`, /^2:3: lanes\.A B: the name must look like/],
    [
      'a bad namespace',
      `lanes:\n${lane('a', '    namespace: "*"\n')}`,
      /^4:5: lanes\.a\.namespace: must be main/,
    ],
    [
      'the namespace of a broker',
      `lanes:\n${lane('a', '    namespace: broker:github\n')}`,
      /^4:5: .*App's own/,
    ],
    [
      'two lanes with one label',
      `lanes:\n${lane('a')}${lane('b', '    label: LANE:a\n')}`,
      /^6:5: lanes\.b: the label LANE:a is already that of a/,
    ],
    ['no lane at all', 'lanes: {}\n', '1:1: lanes: there is no lane.'],
    [
      'a grant of an unknown lane',
      `lanes:\n${lane('a')}grants:\n  w: [main, lane:b]\n`,
      /^5:3: grants\.w: no lane has the namespace "lane:b"/,
    ],
    [
      'a grant of the App itself',
      `lanes:\n${lane('a')}grants:\n  w: ["broker:intake"]\n`,
      /^5:3: .*cannot be granted/,
    ],
    [
      'one fleet namespace for two drainers',
      `lanes:\n${lane('a')}grants:\n  v: ["agent:1"]\n  w: ["agent:1"]\n`,
      /^6:3: .*already granted to v/,
    ],
    [
      'a secret handed to an agent',
      'lanes:\n  a:\n    agent: { kind: command, run: [x], env: [PRIVATE_KEY] }\n',
      /^3:39: .*never reaches an agent/,
    ],
    [
      'a bad repository pattern',
      `repositories: [acme]\nlanes:\n${lane('a')}`,
      /^1:1: repositories: "acme" must look like/,
    ],
    ['a tab for indentation', 'lanes:\n\ta: 1\n', /^2:1: Tabs are not allowed/],
    ['a key twice', `lanes:\n${lane('a')}lanes: {}\n`, /^4:1: Map keys must be unique/],
    ['an unclosed list', 'lanes: [\n', /^2:1: /],
    ['an unknown tag', 'lanes: !!js/function x\n', /^1:8: Unresolved tag/],
    ['an empty file', '', '1:1: The file is empty.'],
    ['only a comment', '# nothing\n', '1:1: The file is empty.'],
    ['two documents', 'lanes: {}\n---\nlanes: {}\n', /more than one YAML document/],
    ['a list', '- a\n', /^1:1: The file: .*expected object/],
  ])('refuses %s, with line and column', (_what, text, line) => {
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(line);
  });

  it('tells every mistake', () => {
    expect(problemsOf(`lanes:\n${lane('a', '    x: 1\n')}${lane('b', '    writes: 3\n')}`)).toHaveLength(2);
  });

  it('that is not UTF-8 is refused, not guessed', () => {
    expect(problemsOf(Buffer.from([0x6c, 0xff, 0xfe]))).toEqual([expect.stringMatching(/is not UTF-8 text/)]);
  });

  it('that cannot be read is refused', () => {
    expect(() => loadOperatorFile(root, 'here')).toThrow(/cannot be read/);
  });
});

describe('the repository file', () => {
  it('names lanes, and what it changes of them', () => {
    const reading = readRepositoryFile(
      'lanes:\n  triage: { label: help, proof: verified, proves: { unit: [AC-1] } }\n',
    );
    expect(reading).toEqual({
      ok: true,
      file: { lanes: { triage: { label: 'help', proof: 'verified', proves: { unit: ['AC-1'] } } } },
    });
  });

  it.each([
    ['widen proof', 'lanes:\n  a: { proof: asserted }\n'],
    ['widen what happens without criteria', 'lanes:\n  a: { onNoCriteria: run }\n'],
    ['name a command', 'lanes:\n  a: { run: [sh] }\n'],
    ['name an agent', 'lanes:\n  a: { agent: { kind: command, run: [sh] } }\n'],
    ['add a check with a command', 'lanes:\n  a: { checks: { x: { run: [sh] } } }\n'],
    ['switch containment off', 'lanes:\n  a: { containment: none }\n'],
    ['grant anything', 'lanes: {}\ngrants: {}\n'],
  ])('cannot %s', (_what, text) => {
    expect(readRepositoryFile(text)).toMatchObject({ ok: false });
  });

  it('with one label on two lanes is refused', () => {
    expect(readRepositoryFile('lanes:\n  a: { label: x }\n  b: { label: X }\n')).toEqual({
      ok: false,
      problems: [{ line: 3, column: 8, message: 'lanes.b.label: another lane has this label.' }],
    });
  });

  const aliases = Array.from({ length: 8 }, (_, i) => `k${i + 1}: &k${i + 1} [${Array(9).fill(`*k${i}`)}]`);
  it.each([
    ['a million brackets', '['.repeat(100_000), /nested more than 64/],
    ['a million braces', '{'.repeat(100_000), /nested more than 64/],
    ['lists in lists', '- '.repeat(50_000), /nested more than 64/],
    ['keys of keys', '? '.repeat(50_000), /nested more than 64/],
    ['one megabyte', `# ${'x'.repeat(1_000_000)}`, /at most 131072 are read/],
    [
      'ten thousand keys',
      Array.from({ length: 10_000 }, (_, i) => `k${i}: 1`).join('\n'),
      /more than 20000 parts/,
    ],
    ['aliases of aliases', `k0: &k0 [x]\n${aliases.join('\n')}`, /anchors and aliases cannot be used/],
    ['an alias without an anchor', 'lanes: *nothing\n', /anchors and aliases cannot be used/],
    ['an alias of itself', 'lanes: &a\n  b: *a\n', /./],
    ['brackets next to each other', '[]'.repeat(60_000), /more than 20000 parts/],
    ['a lone surrogate', 'lanes: "\ud800"\n', /./],
    ['a NUL', 'lanes: \0\n', /./],
  ])('survives %s, quickly, and says what is wrong', (_what, text, message) => {
    const start = performance.now();
    const reading = readRepositoryFile(text);
    expect(performance.now() - start).toBeLessThan(10_000);
    if (reading.ok) throw new Error('it must be refused');
    expect(reading.problems.length).toBeLessThanOrEqual(20);
    expect(reading.problems[0]?.message).toMatch(message);
  });

  it('tells at most 20 problems', () => {
    const reading = readRepositoryFile(
      `lanes:\n${Array.from({ length: 50 }, (_, i) => `  l${i}: 1\n`).join('')}`,
    );
    expect(reading.ok ? 0 : reading.problems.length).toBe(20);
  });

  it('that names lanes like members of every object stays plain data', () => {
    expect(readRepositoryFile('lanes:\n  constructor: {}\n').ok).toBe(true);
    const reading = readRepositoryFile('lanes:\n  __proto__: { label: x }\n');
    expect(reading.ok && Object.keys(reading.file.lanes)).toEqual([]);
    expect(reading.ok && reading.file.lanes.label).toBeUndefined();
  });
});
