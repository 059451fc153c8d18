/**
 * Recording deliveries together: with every write on disk before it is answered, a write costs a sync of the disk,
 * however much it holds. Deliveries that come while others are being written go together in the next script.
 */
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Namespace } from '../namespaces.ts';
import type { Delivery } from '../records/issues.ts';
import { ask } from './answers.ts';
import { deliveriesKey, guidKey } from './keys.ts';
import { packPayload } from './packed.ts';
import { makeScript, runScript } from './script.ts';

/** GitHub keeps deliveries for redelivery for three days; a GUID is remembered well beyond that. */
const guidForMs = 8 * 24 * 3_600_000;
/** Two: one is on its way to the disk while the other is being filled and sent. */
const scriptsAtOnce = 2;
const mostTogether = 32;
/** A script may hold this much, or one delivery that is larger. */
const mostChars = 1024 * 1024;

/** KEYS: deliveries, then each GUID. ARGV: ms to remember, then guid, event, payload's field, payload, received at of each. Answers 1 or 0 for each. */
const recordScript = makeScript(`
local answers = {}
for n = 2, #KEYS do
  local at = (n - 2) * 5 + 2
  if redis.call('SET', KEYS[n], '1', 'NX', 'PX', ARGV[1]) then
    redis.call('XADD', KEYS[1], '*', 'guid', ARGV[at], 'event', ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], 'receivedAtMs', ARGV[at + 4])
    answers[n - 1] = 1
  else
    answers[n - 1] = 0
  end
end
return answers
`);

const answersSchema = z.array(z.int());

type Outcome = 'recorded' | 'duplicate';

interface Waiting {
  readonly delivery: Delivery;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/** Records a delivery, durable once answered; the answer says whether its GUID was new. */
export type Recorder = (delivery: Delivery) => Promise<Outcome>;

export function makeRecorder(redis: Redis, ns: Namespace): Recorder {
  const waiting: Waiting[] = [];
  let running = 0;

  const drain = async (): Promise<void> => {
    running += 1;
    while (waiting.length > 0) {
      const batch = takeBatch(waiting);
      try {
        const outcomes = await write(redis, ns, batch);
        for (const [index, one] of batch.entries())
          one.resolve(outcomes[index] === 1 ? 'recorded' : 'duplicate');
      } catch (error) {
        // Those who wait behind it would wait as long again: they are told now.
        for (const one of [...batch, ...waiting.splice(0)]) one.reject(error);
      }
    }
    running -= 1;
  };

  return (delivery) =>
    new Promise((resolve, reject) => {
      waiting.push({ delivery, resolve, reject });
      if (running < scriptsAtOnce) void drain();
    });
}

function takeBatch(waiting: Waiting[]): Waiting[] {
  let chars = 0;
  const end = waiting.findIndex(({ delivery }, index) => {
    chars += delivery.payload.length;
    return index > 0 && (index >= mostTogether || chars > mostChars);
  });
  return waiting.splice(0, end === -1 ? waiting.length : end);
}

async function write(redis: Redis, ns: Namespace, batch: readonly Waiting[]): Promise<number[]> {
  const keys = [deliveriesKey(ns), ...batch.map(({ delivery }) => guidKey(ns, delivery.guid))];
  const args = batch.flatMap(({ delivery: { guid, event, payload, receivedAtMs } }) => [
    guid,
    event,
    ...packPayload(payload),
    receivedAtMs,
  ]);
  return answersSchema.parse(
    await ask(redis, () => runScript(redis, recordScript, keys, [guidForMs, ...args])),
  );
}
