/**
 * What a containment level must prove before it counts: a small program tries, inside, what an agent must not be able
 * to do. A level is what it was seen to do here, not what its documentation says.
 */
import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../program.ts';
import { TOOL_PATH } from '../tools.ts';
import type { ContainedCommand, ContainRequest } from './request.ts';

const PROBE_MS = 20_000;

const TRIES = `set -u
cat "$SECRET" 2>/dev/null && exit 11
ls "$VAULT"/* 2>/dev/null && exit 12
(: >"$OUTSIDE/written") 2>/dev/null
(: >/etc/lanekeeper-probe) 2>/dev/null && exit 14
: >"$COPY/written" || exit 15
: >"$IO/written" || exit 16
umount "$VAULT" 2>/dev/null && exit 17
umount /tmp 2>/dev/null && exit 17
unshare --user true 2>/dev/null && exit 18
test -w /proc/sys/kernel/core_pattern && exit 19
for block in /dev/[hsv]d* /dev/nvme* /dev/mem; do test -r "$block" && exit 20; done
grep -q '^NoNewPrivs:[[:space:]]*1$' /proc/self/status || exit 21
grep -q '^CapPrm:[[:space:]]*0*$' /proc/self/status || exit 22
grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status || exit 23
set -- /proc/[0-9]*
test $# -lt 16 || exit 24
echo contained
`;

/** Whether a level holds here. `place` is a folder of ours, such as the data folder, in which the trial is set up. */
export async function holds(
  contain: (request: ContainRequest) => Promise<ContainedCommand>,
  place: string,
): Promise<boolean> {
  const folder = await realpath(await mkdtemp(join(place, 'probe-')));
  try {
    const at = (name: string) => join(folder, name);
    const [copyDir, ioDir, vault, secret] = [at('copy'), at('io'), at('vault'), at('secret')];
    for (const path of [copyDir, ioDir, vault]) await mkdir(path);
    for (const path of [secret, join(vault, 'secret')]) await writeFile(path, 'secret');
    const env = { PATH: TOOL_PATH, SECRET: secret, VAULT: vault, OUTSIDE: folder, COPY: copyDir, IO: ioDir };
    const argv = ['/bin/sh', '-c', TRIES];
    const command = await contain({
      argv,
      cwd: copyDir,
      env,
      copyDir,
      ioDir,
      expose: [],
      hide: [secret, vault],
    });
    const output = await runProgram({ ...command, signal: AbortSignal.timeout(PROBE_MS) });
    // A write into private memory at the same path is fine; one that arrived here is not.
    const escaped = await stat(at('written')).catch(() => null);
    return output.code === 0 && output.stdout.toString() === 'contained\n' && escaped === null;
  } catch {
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
