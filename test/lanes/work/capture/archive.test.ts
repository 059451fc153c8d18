import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tarOf, untar } from '../../../../lanes/work/capture/archive.ts';
import { put, sh, temporaryFolder } from '../support.ts';

const MB = 1024 * 1024;

describe('an archive', () => {
  it('gives back files, modes, links, holes and odd names, and only what was named', async () => {
    const from = temporaryFolder();
    const odd = Buffer.from([0x2d, 0x2d, 0xff, 0x0a, 0x22]);
    put(from, 'in/run.sh', 'x', 0o755);
    writeFileSync(Buffer.concat([Buffer.from(`${from}/`), odd]), 'odd');
    put(from, 'other', 'o');
    symlinkSync('/etc/passwd', join(from, 'in/link'));
    sh(from, 'truncate', '-s', '3G', 'in/sparse');
    const file = join(temporaryFolder(), 'a.tar');
    put(join(file, '..'), 'a.tar', 'left by a dead writer');
    const tarred = await tarOf(from, ['in', odd], file, MB);
    expect(tarred).toMatchObject({ kind: 'written', trouble: null, bytes: statSync(file).size });
    const to = temporaryFolder();
    await untar(file, to);
    expect(statSync(join(to, 'in/run.sh')).mode & 0o777).toBe(0o755);
    expect(readlinkSync(join(to, 'in/link'))).toBe('/etc/passwd');
    expect(statSync(join(to, 'in/sparse'))).toMatchObject({ size: 3 * 1024 * MB });
    expect(readFileSync(Buffer.concat([Buffer.from(`${to}/`), odd]), 'utf8')).toBe('odd');
    expect(existsSync(join(to, 'other'))).toBe(false);
  });

  it('over its bound is not written, and nothing is left', async () => {
    const from = temporaryFolder();
    put(from, 'big', Buffer.alloc(2 * MB, 1));
    const file = join(temporaryFolder(), 'a.tar');
    expect(await tarOf(from, ['big'], file, MB)).toEqual({ kind: 'too_big' });
    expect(existsSync(file)).toBe(false);
  });

  it('says what it could not hold, and holds the rest', async () => {
    const from = temporaryFolder();
    put(from, 'in/file', 'f');
    sh(from, 'mkfifo', 'in/fifo');
    const listen =
      "require('net').createServer().listen('in/socket', () => process.kill(process.pid, 'SIGKILL'))";
    expect(() => sh(from, process.execPath, '-e', listen)).toThrow();
    const file = join(temporaryFolder(), 'a.tar');
    const tarred = await tarOf(from, ['in', 'gone'], file, MB);
    expect(tarred).toMatchObject({
      kind: 'written',
      trouble: expect.stringMatching(/^tar: gone: [^\n]+(\ntar: Exiting[^\n]+)?$/),
    });
    const to = temporaryFolder();
    await untar(file, to);
    expect(readFileSync(join(to, 'in/file'), 'utf8')).toBe('f');
  });

  it('writes nothing outside of the folder that it is unpacked into', async () => {
    const [elsewhere, from] = [temporaryFolder(), temporaryFolder()];
    symlinkSync(elsewhere, join(from, 'out'));
    put(from, 'real/planted', 'p');
    const file = join(temporaryFolder(), 'a.tar');
    // A link named `out`, then a file `out/planted` that leads through it.
    sh(from, 'tar', '-cf', file, '--transform', 's,^real,out,', 'out', 'real/planted');
    const to = temporaryFolder();
    await untar(file, to).catch(() => {});
    expect(existsSync(join(elsewhere, 'planted'))).toBe(false);
    mkdirSync(join(to, 'still-usable'));
  });
});
