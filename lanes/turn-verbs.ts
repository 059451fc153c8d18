/**
 * The verbs on a namespace's turn: what may start, taking the next one, pausing; and on who has a task in hand. They
 * authorize, ask a rule and write as the verbs on tasks do.
 */
import type { Caller, Namespace } from './namespaces.ts';
import { wakeQueued } from './repair.ts';
import type { Act } from './rules/transitions/move.ts';
import { retry, takeBack } from './rules/transitions/people.ts';
import type { Space } from './space.ts';
import type { Claim } from './store/tasks.ts';
import { decide, type VerbDeps } from './task-verbs.ts';
import type { Claimed, TurnVerbs } from './verbs.ts';

/** How often another task is tried where others were faster. */
const looks = 30;

export function makeTurnVerbs(deps: VerbDeps): TurnVerbs {
  const { spaceFor, unscoped } = deps;
  return {
    async pending(caller, ns) {
      const namespaces = ns === undefined ? unscoped(caller) : [ns];
      const spaces = namespaces.map((one) => spaceFor(caller, one));
      return Promise.all(
        spaces.map(async (space) => ({ namespace: space.ns, tasks: (await space.turn.due(0)).count })),
      );
    },
    claimNext: async (caller, ns) => claimNext(spaceFor(caller, ns), caller, deps),
    retry: async (caller, ns, task, { actor } = {}) =>
      decide(spaceFor(caller, ns), task, null, { by: caller.identity, actor }, { mode: 'any' }, retry),
    takeBack: async (caller, ns, task, why) =>
      decide(spaceFor(caller, ns), task, null, { by: caller.identity }, { mode: 'any' }, (one, act: Act) =>
        takeBack(one, why, act),
      ),
    pause: async (caller, ns) => spaceFor(caller, ns).turn.pause(caller.identity),
    async resumeNamespace(caller: Caller, ns: Namespace) {
      const space = spaceFor(caller, ns);
      await space.turn.resume();
      return (await wakeQueued(space)).woken;
    },
  };
}

/** Other processes may take what was handed out here: then the next one is tried, a bounded number of times. */
async function claimNext(
  space: Space,
  caller: Caller,
  { id, leaseTtlMs }: VerbDeps,
): Promise<Claimed | null> {
  for (let look = 0; look < looks; look += 1) {
    const task = await space.turn.hand();
    if (task === undefined) return null;
    let claim: Claim | undefined;
    try {
      claim = await space.tasks.claim(task, caller.identity, id(), leaseTtlMs);
    } finally {
      space.turn.back(task, claim?.kind === 'claimed');
    }
    if (claim.kind === 'claimed') {
      space.wakes().dropLater(claim.task);
      return claim;
    }
    if (claim.state === 'paused') return null;
  }
  return null;
}
