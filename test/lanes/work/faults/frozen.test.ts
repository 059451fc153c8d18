import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { ownIdentity } from '../../../../lanes/work/identity.ts';
import { endOrphan } from '../../../../lanes/work/process-tree/orphans.ts';
import { builtProgram } from '../../../support/programs.ts';
import { levels } from '../run-support.ts';
import { makeRemote, temporaryFolder } from '../support.ts';
import { statesOf } from './support.ts';

// The strongest and the weakest: those between end a tree as one of the two does.
const [strongest] = levels;
test.each([...new Set([strongest, ...levels.slice(-1)])].flatMap((one) => one?.level ?? []))(
  'a supervisor that is killed while its agent stands still, containment %s, leaves nothing that stays stopped',
  { timeout: 120_000 },
  async (level) => {
    const dataDir = join(temporaryFolder(), 'data');
    const args = [builtProgram('agents/supervisor'), dataDir, makeRemote({ a: 'a' }), level, 'frozen'];
    const supervisor = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface(supervisor.stdout)[Symbol.asyncIterator]();
    const { id, work, agentLock } = JSON.parse((await lines.next()).value);
    expect((await lines.next()).value).toBe('frozen');
    expect(new Set(statesOf(id))).toEqual(new Set(['T']));
    supervisor.kill('SIGKILL');
    await once(supervisor, 'exit');
    const run = { marker: id, folders: [work], agentLock, agent: null, owner: await ownIdentity() };
    expect(await endOrphan({ ...run, waitMs: 30_000, killIntent: async () => {} })).toBe('gone');
    expect(statesOf(id)).toEqual([]);
  },
);
