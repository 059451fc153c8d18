import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'lanekeeper-rules-'));
  for (const part of ['app', 'lanes', 'scripts', 'biome.json', 'package.json', '.gitignore']) {
    cpSync(join(checkout, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  // The linter takes its list of files to leave alone from the version control.
  spawnSync('git', ['init', '-q'], { cwd: copy });
});
afterAll(() => rmSync(copy, { recursive: true }));

/** Runs a program in the copy with these files added to it, and takes them out again. */
function withFiles(
  files: Record<string, string>,
  program: string,
  args: string[],
): { status: number; said: string } {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(copy, name)), { recursive: true });
    writeFileSync(join(copy, name), text);
  }
  try {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: copy, encoding: 'utf8' });
    return { status: status ?? -1, said: stdout + stderr };
  } finally {
    for (const name of Object.keys(files)) rmSync(join(copy, name));
  }
}

const walk = (files: Record<string, string>) =>
  withFiles(files, process.execPath, ['scripts/import-rules.mjs']);
const lint = (files: Record<string, string>) =>
  withFiles(files, 'node_modules/.bin/biome', ['lint', ...Object.keys(files)]);

const direct: [what: string, file: string, line: string][] = [
  [
    'a record that reads a file',
    'lanes/records/x.ts',
    "import { readFileSync } from 'node:fs';\nexport { readFileSync };",
  ],
  [
    'a rule that knows Redis, if only its type',
    'lanes/rules/x.ts',
    "import type { Redis } from 'ioredis';\nexport type X = Redis;",
  ],
  ['a rule that knows Probot, through an export', 'lanes/rules/x.ts', "export { Probot } from 'probot';"],
  [
    'a rule that knows Octokit, when it is called',
    'lanes/rules/x.ts',
    "export const x = () => import('@octokit/rest');",
  ],
  ['a rule that knows the store', 'lanes/rules/x.ts', "export * from '../store/tasks.ts';"],
  ['a record that knows a rule', 'lanes/records/x.ts', "export * from '../rules/lanes.ts';"],
  ['a store that knows the queue', 'lanes/store/x.ts', "export * from '../queue/wakes.ts';"],
  ['a queue that knows the store', 'lanes/queue/x.ts', "export * from '../store/tasks.ts';"],
  ['work that knows the engine', 'lanes/work/x.ts', "export * from '../engine.ts';"],
  ['an engine that knows the shell', 'lanes/store/x.ts', "export * from '../../app/config.ts';"],
  ['a shell that knows the store', 'app/intake/x.ts', "export * from '../../lanes/store/tasks.ts';"],
  ['a shell that knows the wiring', 'app/intake/x.ts', "export * from '../../lanes/engine.ts';"],
  ['a worker that knows GitHub', 'app/box.ts', "export * from './github/x.ts';"],
  ['a worker that knows the broker', 'app/box.ts', "export * from './broker/x.ts';"],
];

describe('a forbidden import', () => {
  it.each(direct)('is found by the walk and by the linter: %s', (_what, file, line) => {
    const walked = walk({ [file]: `${line}\n` });
    expect(walked.said).toContain(`${file} -> `);
    expect(walked.status).toBe(1);
    const linted = lint({ [file]: `${line}\n` });
    expect(linted.said).toContain('noRestrictedImports');
    expect(linted.status).toBe(1);
  });

  it('through another file is found by the walk, which shows the way', () => {
    const { status, said } = walk({
      'app/box.ts': "export * from './fleet/x.ts';\n",
      'app/fleet/x.ts': "export const late = () => import('./y.ts');\n",
      'app/fleet/y.ts': "export * from '../github/z.ts';\n",
      'app/github/z.ts': 'export {};\n',
    });
    expect(said).toContain('app/box.ts -> app/fleet/x.ts -> app/fleet/y.ts -> app/github/z.ts');
    expect(status).toBe(1);
  });

  it('of a Node module through a record is found too', () => {
    const { status, said } = walk({
      'lanes/rules/x.ts': "export * from '../records/y.ts';\n",
      'lanes/records/y.ts': "export { hash } from 'crypto';\n",
    });
    expect(said).toContain('lanes/rules/x.ts -> lanes/records/y.ts -> node:crypto');
    expect(status).toBe(1);
  });

  it('that is computed is refused, since nobody can follow it', () => {
    const { status, said } = walk({
      'app/intake/x.ts': "const name = 'fs';\nexport const x = () => import(name);\n",
    });
    expect(said).toContain('computed import of name');
    expect(status).toBe(1);
  });

  it('in a type is found too', () => {
    const { status } = walk({ 'lanes/rules/x.ts': "export type X = import('../store/tasks.ts').Claim;\n" });
    expect(status).toBe(1);
  });
});

it('the checkout itself breaks no rule', () => {
  expect(walk({})).toEqual({ status: 0, said: '' });
});
