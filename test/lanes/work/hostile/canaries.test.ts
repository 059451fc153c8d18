/**
 * What an agent plants in its own git directory, so that whoever runs git there runs its code. Each trap is shown to be
 * real: the agent's own git springs it, after the capture did not.
 */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { captureResult } from '../../../../lanes/work/capture.ts';
import { outboxPaths } from '../../../../lanes/work/outbox.ts';
import { restoreBeside, restorePatch } from '../../../../lanes/work/restore.ts';
import { makeCopy, makePlace, makeRemote, put, sh, temporaryFolder } from '../support.ts';

interface Trap {
  /** Plants it. `script` is a program outside of the copy that leaves a sign wherever it runs. */
  plant(dir: string, script: string, elsewhere: string): void;
  /** The git command with which the agent's own git springs it. */
  spring: string[];
}

const config = (dir: string, text: string) => appendFileSync(join(dir, '.git/config'), `\n${text}\n`);
const hook = (script: string) => `exec ${script}`;
const status = ['status'];
const add = ['add', '-A'];
const diff = ['--no-pager', 'diff'];

/** A repository with a commit, whose own configuration runs the script for whoever looks into it. */
function armedRepository(folder: string, script: string): void {
  mkdirSync(folder, { recursive: true });
  sh(folder, 'git', 'init', '-q', '.');
  put(folder, 'f', 'f');
  sh(folder, 'git', 'add', 'f');
  sh(folder, 'git', 'commit', '-q', '-m', 'x');
  put(folder, 'f', 'changed');
  put(folder, '.gitattributes', '* filter=x\n');
  config(folder, `[core]\n\tfsmonitor = ${script}\n[filter "x"]\n\tclean = ${script}\n`);
}

const traps: Record<string, Trap> = {
  'a hook': {
    plant: (dir, script) => put(dir, '.git/hooks/pre-commit', `#!/bin/sh\n${hook(script)}\n`, 0o755),
    spring: ['commit', '-q', '--allow-empty', '-m', 'x'],
  },
  'a hook on every write of the index': {
    plant: (dir, script) => put(dir, '.git/hooks/post-index-change', `#!/bin/sh\n${hook(script)}\n`, 0o755),
    spring: add,
  },
  'a folder of hooks': {
    plant(dir, script) {
      put(dir, 'planted/post-index-change', `#!/bin/sh\n${hook(script)}\n`, 0o755);
      config(dir, `[core]\n\thooksPath = ${join(dir, 'planted')}`);
    },
    spring: add,
  },
  'core.fsmonitor': {
    plant: (dir, script) => config(dir, `[core]\n\tfsmonitor = ${script}`),
    spring: status,
  },
  'a clean filter': {
    plant(dir, script) {
      put(dir, '.gitattributes', '* filter=x\n');
      config(dir, `[filter "x"]\n\tclean = ${script}`);
    },
    spring: add,
  },
  'a smudge filter': {
    plant(dir, script) {
      put(dir, '.gitattributes', '* filter=x\n');
      config(dir, `[filter "x"]\n\tsmudge = ${script}`);
    },
    spring: ['checkout', '-q', '-f', 'HEAD', '--', '.'],
  },
  'a filter process': {
    plant(dir, script) {
      put(dir, '.gitattributes', '* filter=x\n');
      config(dir, `[filter "x"]\n\tprocess = ${script}`);
    },
    spring: add,
  },
  'a filter by .git/info/attributes': {
    plant(dir, script) {
      put(dir, '.git/info/attributes', '* filter=x\n');
      config(dir, `[filter "x"]\n\tclean = ${script}`);
    },
    spring: add,
  },
  'a filter by core.attributesFile': {
    plant(dir, script, elsewhere) {
      put(elsewhere, 'attributes', '* filter=x\n');
      config(dir, `[core]\n\tattributesFile = ${elsewhere}/attributes\n[filter "x"]\n\tclean = ${script}`);
    },
    spring: add,
  },
  textconv: {
    plant(dir, script) {
      put(dir, '.gitattributes', '* diff=x\n');
      config(dir, `[diff "x"]\n\ttextconv = ${script}`);
    },
    spring: diff,
  },
  'an external diff': {
    plant: (dir, script) => config(dir, `[diff]\n\texternal = ${script}`),
    spring: diff,
  },
  'a diff command by attribute': {
    plant(dir, script) {
      put(dir, '.gitattributes', '* diff=x\n');
      config(dir, `[diff "x"]\n\tcommand = ${script}`);
    },
    spring: diff,
  },
  'an included configuration': {
    plant(dir, script, elsewhere) {
      put(elsewhere, 'included', `[core]\n\tfsmonitor = ${script}\n`);
      config(dir, `[include]\n\tpath = ${elsewhere}/included`);
    },
    spring: status,
  },
  'a configuration included on a condition': {
    plant(dir, script, elsewhere) {
      put(elsewhere, 'included', `[core]\n\tfsmonitor = ${script}\n`);
      config(dir, `[includeIf "gitdir:**"]\n\tpath = ${elsewhere}/included`);
    },
    spring: status,
  },
  'a program that signs': {
    plant: (dir, script) => config(dir, `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${script}`),
    spring: ['commit', '-q', '--allow-empty', '-m', 'x'],
  },
  'another working tree': {
    plant(dir, script, elsewhere) {
      put(elsewhere, 'foreign', 'f');
      config(dir, `[core]\n\tworktree = ${elsewhere}\n\tfsmonitor = ${script}`);
    },
    spring: status,
  },
  'a .git that is a file and leads elsewhere': {
    plant(dir, script, elsewhere) {
      renameSync(join(dir, '.git'), join(elsewhere, 'moved'));
      put(dir, '.git', `gitdir: ${elsewhere}/moved\n`);
      appendFileSync(join(elsewhere, 'moved/config'), `\n[core]\n\tfsmonitor = ${script}\n`);
    },
    spring: status,
  },
  'a .git that is a link and leads elsewhere': {
    plant(dir, script, elsewhere) {
      renameSync(join(dir, '.git'), join(elsewhere, 'moved'));
      symlinkSync(join(elsewhere, 'moved'), join(dir, '.git'));
      appendFileSync(join(elsewhere, 'moved/config'), `\n[core]\n\tfsmonitor = ${script}\n`);
    },
    spring: status,
  },
  'a repository inside the copy': {
    plant: (dir, script) => armedRepository(join(dir, 'inner'), script),
    spring: ['-C', 'inner', 'status'],
  },
};

async function planted(trap: Trap) {
  const outside = temporaryFolder();
  const canary = join(outside, 'canary');
  put(outside, 'script', `#!/bin/sh\ntouch ${canary}\n[ -t 0 ] || cat\nexit 0\n`, 0o755);
  const place = await makePlace();
  const remote = makeRemote({ 'change.txt': 'one\n' });
  const copy = await makeCopy(place, remote);
  trap.plant(copy.paths.work, join(outside, 'script'), outside);
  put(copy.paths.work, 'change.txt', 'changed\n');
  put(copy.paths.work, 'new.txt', 'new\n');
  return { place, remote, copy, canary };
}

it.each(Object.entries(traps))('%s does not run as us', { timeout: 120_000 }, async (_name, trap) => {
  const { place, copy, canary } = await planted(trap);
  const receipt = await captureResult(place, copy, 'none');
  expect(existsSync(canary)).toBe(false);
  const patch = readFileSync(outboxPaths(place, copy.id).patch, 'utf8');
  expect(patch).toContain('+changed');
  expect(patch).toContain('+new');
  expect(patch).not.toContain('foreign');
  expect(receipt.missing.every(({ why }) => why === 'embedded_repository')).toBe(true);
  try {
    sh(copy.paths.work, 'git', ...trap.spring);
  } catch {
    // A script that is no real filter makes git fail; it ran all the same.
  }
  expect(existsSync(canary)).toBe(true);
});

it('a submodule with a configuration of its own does not run as us', { timeout: 120_000 }, async () => {
  const outside = temporaryFolder();
  const canary = join(outside, 'canary');
  put(outside, 'script', `#!/bin/sh\ntouch ${canary}\ncat\n`, 0o755);
  armedRepository(join(outside, 'library'), join(outside, 'script'));
  // Git looks into a submodule only where its head is the one that the index names.
  const head = sh(join(outside, 'library'), 'git', '-c', 'core.fsmonitor=false', 'rev-parse', 'HEAD');
  rmSync(canary, { force: true });
  const remote = makeRemote({ 'change.txt': 'one\n' });
  sh(remote, 'git', 'update-index', '--add', '--cacheinfo', `160000,${head},sub`);
  sh(remote, 'git', 'commit', '-q', '-m', 'submodule');
  const place = await makePlace();
  const copy = await makeCopy(place, remote);
  cpSync(join(outside, 'library'), join(copy.paths.work, 'sub'), { recursive: true });
  put(copy.paths.work, 'change.txt', 'changed\n');
  const receipt = await captureResult(place, copy, 'none');
  expect(receipt).toMatchObject({ files: 1, archives: [{ path: 'sub/' }] });
  expect(existsSync(canary)).toBe(false);
  sh(copy.paths.work, 'git', 'status');
  expect(existsSync(canary)).toBe(true);
});

it('replaced objects and borrowed ones do not change what the work is compared with', async () => {
  const { place, remote, copy, canary } = await planted({ plant: () => {}, spring: [] });
  const dir = copy.paths.work;
  const base = sh(dir, 'git', 'rev-parse', 'HEAD');
  const other = sh(dir, 'git', 'commit-tree', '4b825dc642cb6eb9a060e54bf8d69288fbee4904', '-m', 'nothing');
  sh(dir, 'git', 'replace', '-f', base, other);
  expect(sh(dir, 'git', 'ls-tree', base)).toBe('');
  put(dir, '.git/objects/info/alternates', '/nonexistent\n');
  const receipt = await captureResult(place, copy, 'none');
  expect(receipt).toMatchObject({ files: 2, partial: false });
  const next = await makeCopy(place, remote);
  expect(await restorePatch(next, outboxPaths(place, copy.id).patch)).toBe('applied');
  expect(await restoreBeside(place, next, receipt)).toEqual([]);
  expect(readFileSync(join(next.paths.work, 'change.txt'), 'utf8')).toBe('changed\n');
  expect(existsSync(canary)).toBe(false);
});
