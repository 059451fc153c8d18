/** The kernel's count of processes that it killed for want of memory. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const cgroupRoot = '/sys/fs/cgroup';

/**
 * `oom_kill` of a control group's `memory.events` (Linux, cgroup-v2.rst: processes of the group killed by any kind of
 * OOM killer); null where it cannot be read: cgroup v1, the root group, or one outside what is mounted here.
 * @param cgroup the line of `/proc/<pid>/cgroup`, such as `0::/user.slice`
 */
export async function memoryKills(cgroup: string, root: string = cgroupRoot): Promise<number | null> {
  const path = /^0::(\/.*)$/.exec(cgroup)?.[1];
  if (path === undefined || path.split('/').includes('..')) return null;
  const events = await readFile(join(root, path, 'memory.events'), 'latin1').catch(() => '');
  const count = /^oom_kill (\d+)$/m.exec(events)?.[1];
  return count === undefined ? null : Number(count);
}
