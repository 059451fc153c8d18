/** The processes below Lanekeeper, found as an operator would find them: by who started them and what they run. */
import { readFile } from 'node:fs/promises';
import { until } from '../support/until.ts';

interface Found {
  readonly pid: number;
  readonly command: string;
}

async function childrenOf(pid: number): Promise<Found[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const pids = text.trim().split(' ').filter(Boolean).map(Number);
  return Promise.all(pids.map(async (child) => ({ pid: child, command: await commandOf(child) })));
}

async function commandOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.split('\0').join(' ');
}

async function below(pid: number): Promise<Found[]> {
  const children = await childrenOf(pid);
  return [...children, ...(await Promise.all(children.map((child) => below(child.pid)))).flat()];
}

export type Role = 'worker' | 'redis' | 'agent';

const looks: Readonly<Record<Role, RegExp>> = {
  worker: /app\/worker/,
  redis: /^\S*redis-server/,
  agent: /^\S*node \S*gated\.mjs/,
};

/** The processes of a kind below one. */
export async function findAll(server: number, role: Role): Promise<number[]> {
  return (await below(server)).filter(({ command }) => looks[role].test(command)).map(({ pid }) => pid);
}

/** The one process of a kind, as soon as it is there. */
export function find(server: number, role: Role): Promise<number> {
  return until(`a process of the kind ${role}`, async () => (await findAll(server, role))[0]);
}
