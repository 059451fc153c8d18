/** Why a run ended whose supervisor did not live to say it: into the machine's ledger, with the evidence. */
import { causeOfDeath } from '../../rules/death.ts';
import type { Copy } from '../copy.ts';
import { eventOf } from '../machine-ledger.ts';
import { killWasIntended } from '../worker-kill.ts';
import type { Workplace } from '../workplace.ts';
import type { Look } from './look.ts';

/**
 * Notes the death of a run that was going on. Its supervisor may have noted its agent's end before it died itself: the
 * first one counts. Throws LaneError `disk`.
 */
export async function noteDeath(place: Workplace, copy: Copy, { owner }: Look): Promise<void> {
  const { record } = copy;
  if (record.state !== 'running') return;
  const times = { fromMs: record.at, toMs: place.now() };
  const seen = owner?.kind === 'dead' && !owner.rebooted && record.owner.pidNs === place.owner.pidNs;
  const death = causeOfDeath({
    record,
    bootIdNow: place.owner.bootId,
    machineIdNow: place.owner.machineId,
    killIntentOfOurs: await killWasIntended(place.dataDir, record.owner, times),
    // Its control group went with it, or is not the supervisor's alone.
    oomKill: null,
    ownerGone: seen ? true : null,
  });
  await place.ledger.append({ ...eventOf(place, record), event: 'run_exited', ...death });
}
