import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { probeContainment } from '../../../lanes/work/containment.ts';
import { onDisk } from '../../../lanes/work/files.ts';
import { git } from '../../../lanes/work/git.ts';
import { builtProgram } from '../../support/programs.ts';
import { makeRemote, temporaryFolder } from './support.ts';

const mayMount = (await probeContainment(temporaryFolder())).some(({ level }) => level === 'unshare');

it.runIf(mayMount)(
  'a full disk is the error `disk`, nothing is lost, and it goes on once there is room',
  () => {
    const disk = temporaryFolder();
    const script = 'mount -t tmpfs -o size=16m none "$1" && exec "$3" "$4" "$1" "$2"';
    const args = [disk, makeRemote({ 'a.txt': 'a' }), process.execPath, builtProgram('full-disk')];
    const output = execFileSync('unshare', ['-U', '-r', '-m', 'sh', '-c', script, 'x', ...args], {
      encoding: 'utf8',
    });
    expect(JSON.parse(output)).toEqual({
      create: 'disk',
      capture: 'disk',
      kept: true,
      again: 'ok',
      removed: 'removed',
    });
  },
);

it.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'])('%s of the system is the error `disk`', async (code) => {
  const broken = () => Promise.reject(Object.assign(new Error('no'), { code }));
  await expect(onDisk('a test', broken)).rejects.toMatchObject({ code: 'disk' });
});

it('another error of the system stays what it is', async () => {
  const broken = () => Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' }));
  await expect(onDisk('a test', broken)).rejects.toMatchObject({ code: 'EACCES' });
});

it('git that cannot write is the error `disk`', async () => {
  const cwd = makeRemote({ 'a.txt': 'a' });
  const full = await open('/dev/full', 'w');
  const writing = git({ args: ['cat-file', '-p', 'HEAD'], cwd, stdoutFd: full.fd });
  await expect(writing).rejects.toMatchObject({ code: 'disk' });
  await full.close();
});
