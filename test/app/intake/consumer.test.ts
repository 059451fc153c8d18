import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Consumer,
  type DeliveryQueue,
  type ReceivedEvent,
  startConsumer,
  type TakenDelivery,
} from '../../../app/intake/consumer.ts';

/** A queue in memory: what is added is taken once; what became of it is written down. */
function makeQueue() {
  const waiting: TakenDelivery[] = [];
  const ended: string[] = [];
  let wake: () => void = () => {};
  let largest = 0;
  const queue: DeliveryQueue = {
    async take({ count, blockMs }) {
      largest = Math.max(largest, count);
      if (waiting.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, blockMs).unref();
        });
      return waiting.splice(0, count);
    },
    async done(entry) {
      ended.push(`done ${entry}`);
      changed();
    },
    async failed(entry, why) {
      ended.push(`failed ${entry}: ${why}`);
      changed();
    },
  };
  const add = (...some: [entry: string, payload: unknown][]) => {
    for (const [entry, payload] of some) {
      const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
      waiting.push({
        id: entry,
        delivery: { guid: `guid-${entry}`, event: 'issues', payload: text, receivedAtMs: 1 },
      });
    }
    wake();
  };
  return { queue, add, ended, largest: () => largest };
}

/** Stops without waiting out the blocking read. */
async function stopNow(): Promise<void> {
  const stopped = consumer.stop();
  box.add();
  await stopped;
}

let changed: () => void = () => {};
/** Resolves when the condition holds, looking again whenever something happened. */
function until(condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => condition() && resolve();
    changed = look;
    look();
  });
}

const issue = (number: number, more = {}) => ({ repository: { id: 5 }, issue: { number }, ...more });

let box: ReturnType<typeof makeQueue>;
let received: string[];
let gates: Map<string, () => void>;
let consumer: Consumer;
let receive: (event: ReceivedEvent) => Promise<void>;

beforeEach(() => {
  box = makeQueue();
  received = [];
  gates = new Map();
  receive = (event) =>
    new Promise((resolve) => {
      received.push(event.id);
      gates.set(event.id, resolve);
      changed();
    });
  consumer = startConsumer({ queue: box.queue, receive: (event) => receive(event), log: { warn: () => {} } });
});
afterEach(async () => {
  receive = async () => {};
  for (const open of gates.values()) open();
  await stopNow();
});

describe('the consumer', () => {
  it('hands a delivery over by its GUID, name and payload, and says when it is done', async () => {
    const events: ReceivedEvent[] = [];
    receive = async (event) => {
      events.push(event);
    };
    box.add(['1', issue(7, { action: 'labeled' })]);
    await until(() => box.ended.length === 1);
    expect(events).toEqual([{ id: 'guid-1', name: 'issues', payload: issue(7, { action: 'labeled' }) }]);
    expect(box.ended).toEqual(['done 1']);
  });

  it('keeps the order of one issue, and lets another go ahead', async () => {
    box.add(['1', issue(7)], ['2', issue(7)], ['3', issue(8)]);
    await until(() => received.length === 2);
    expect(received).toEqual(['guid-1', 'guid-3']);
    gates.get('guid-3')?.();
    await until(() => box.ended.length === 1);
    expect(received).toEqual(['guid-1', 'guid-3']);
    gates.get('guid-1')?.();
    await until(() => received.length === 3);
    expect(box.ended).toEqual(['done 3', 'done 1']);
  });

  it('takes the same number in two repositories for two issues', async () => {
    box.add(['1', issue(7)], ['2', { repository: { id: 6 }, issue: { number: 7 } }]);
    await until(() => received.length === 2);
    expect(received).toEqual(['guid-1', 'guid-2']);
  });

  it('keeps the order of one installation', async () => {
    box.add(
      ['1', { installation: { id: 3 } }],
      ['2', { installation: { id: 3 } }],
      ['3', { installation: { id: 4 } }],
    );
    await until(() => received.length === 2);
    expect(received).toEqual(['guid-1', 'guid-3']);
  });

  it('works on at most eight issues at once', async () => {
    box.add(
      ...Array.from({ length: 12 }, (_, index): [string, unknown] => [String(index), issue(index + 1)]),
    );
    await until(() => received.length === 8);
    await new Promise((resolve) => setImmediate(resolve));
    expect(received).toHaveLength(8);
    gates.get('guid-0')?.();
    await until(() => received.length === 9);
  });

  it('holds at most 32 deliveries', async () => {
    box.add(...Array.from({ length: 40 }, (_, index): [string, unknown] => [String(index), issue(1)]));
    await until(() => received.length === 1);
    expect(box.largest()).toBe(32);
  });

  it.each([
    ['what a hook throws', issue(1), /^failed 1: TypeError: no such thing$/],
    ['a payload that is not JSON', '{"a":', /^failed 1: the payload is not JSON$/],
    ['a payload that is no object', 'null', /^failed 1: the payload is not a JSON object$/],
    ['a payload that is a list', '[]', /^failed 1: the payload is not a JSON object$/],
  ])('gives back %s', async (_what, payload, line) => {
    receive = () => Promise.reject(new AggregateError([new TypeError('no such thing')]));
    box.add(['1', payload]);
    await until(() => box.ended.length === 1);
    expect(box.ended[0]).toMatch(line);
  });

  it('does not begin again what it still works on', async () => {
    box.add(['1', issue(1)]);
    await until(() => received.length === 1);
    box.add(['1', issue(1)], ['2', issue(2)]);
    await until(() => received.length === 2);
    gates.get('guid-1')?.();
    gates.get('guid-2')?.();
    await until(() => box.ended.length === 2);
    box.add(['3', issue(1)]);
    await until(() => gates.has('guid-3'));
    expect(received).toEqual(['guid-1', 'guid-2', 'guid-3']);
  });

  it('goes on with the issue after a failure', async () => {
    receive = () => Promise.reject(new Error('x'));
    box.add(['1', issue(1)]);
    await until(() => box.ended.length === 1);
    receive = async () => {};
    box.add(['2', issue(1)]);
    await until(() => box.ended.length === 2);
    expect(box.ended[1]).toBe('done 2');
  });

  it('survives wrong types where it looks for the issue', async () => {
    receive = async () => {};
    box.add(
      ['1', { repository: null, issue: 3 }],
      ['2', { issue: { number: 'x' }, installation: [] }],
      ['3', {}],
    );
    await until(() => box.ended.length === 3);
    expect(box.ended.toSorted()).toEqual(['done 1', 'done 2', 'done 3']);
  });

  it('stops after finishing what it took', async () => {
    box.add(['1', issue(1)], ['2', issue(1)]);
    await until(() => received.length === 1);
    const stopped = stopNow().then(() => 'stopped');
    expect(
      await Promise.race([stopped, new Promise((resolve) => setImmediate(() => resolve('waits')))]),
    ).toBe('waits');
    gates.get('guid-1')?.();
    await until(() => received.length === 2);
    gates.get('guid-2')?.();
    expect(await stopped).toBe('stopped');
    expect(box.ended).toEqual(['done 1', 'done 2']);
  });

  it('tries again when the queue cannot be read', async () => {
    const { take } = box.queue;
    let failures = 1;
    await stopNow();
    const shaky: DeliveryQueue = {
      ...box.queue,
      take: (limits) => (failures-- > 0 ? Promise.reject(new Error('gone')) : take(limits)),
    };
    receive = async () => {};
    consumer = startConsumer({ queue: shaky, receive: (event) => receive(event), log: { warn: () => {} } });
    box.add(['1', issue(1)]);
    await until(() => box.ended.length === 1);
  });
});
