import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../lanes/index.ts';
import {
  grantedNamespaces,
  isFleetQueue,
  makeRegistry,
  type Namespace,
  parseNamespace,
} from '../../../lanes/namespaces.ts';
import { namespaceSchema } from '../../../lanes/records/common.ts';
import { newTaskSchema } from '../../../lanes/records/tasks.ts';
import { agentLane } from '../../support/engine.ts';
import { callerNamed, lane, newTask } from '../../support/tasks.ts';
import { useEngine } from '../../support/use-engine.ts';

/** Names that look like ones that exist, or that would reach other keys if they were taken for names. */
const lookAlikes = [
  'Main',
  'MAIN',
  'LANE:triage',
  'lane:Triage',
  'Agent:42',
  'ｌane:triage',
  'lane\uFF1Atriage',
  'l\u0430ne:triage',
  'lane:tri\u0430ge',
  'agent:\u0664\u0662',
  'agent:4\u00B2',
  'lane:triage\u200B',
  'lane:triage\u0301',
  ' lane:triage',
  'lane:triage ',
  'lane: triage',
  'lane:triage\t',
  'lane:triage\n',
  'lane:triage\r\n',
  '\nlane:triage',
  'main\n',
  'lane:triage\0',
  'lane:tri\0age',
  'agent:42:ctl',
  'agent:x:ctl',
  'agent:42:',
  'agent:',
  'lane:',
  ':42',
  'agent',
  '*',
  'lane:*',
  'agent:*',
  'agent:4?',
  'lane:[t]riage',
  'lane:triage}',
  'lane:{triage',
  '}',
  '{',
  'agent:42}:x',
  'lane:triage:..',
  'lane:../main',
  'lane:.',
  'lane:-x',
  'lane:_x',
  '',
  ' ',
  `lane:${'a'.repeat(65)}`,
  `lane:${'a'.repeat(100_000)}`,
  'broker:Intake',
  'constructor',
  '__proto__',
];

const foreign = parseNamespace('lane:nowhere');
let engine: Engine;

useEngine((opened) => {
  ({ engine } = opened);
});

/** Every verb that takes a namespace, called by somebody who says that this one is granted to them. */
function callAll(name: string): [string, Promise<unknown>][] {
  const ns = name as Namespace;
  const me = callerNamed('w', [ns, lane]);
  const id = 'task0000';
  const lease = {
    namespace: ns,
    task: id,
    run: 1,
    fence: 1,
    id: 'x'.repeat(16),
    worker: 'w',
    epoch: 'e',
    endsAtMs: 1,
  };
  const task = { ...newTask(), namespace: ns };
  const serving = { lane: 'triage', concurrency: 1, onWake: async () => {}, onTrouble: () => {} };
  return [
    ['admit', engine.admit(me, task)],
    ['get', engine.get(me, ns, id)],
    ['count', engine.count(me, ns)],
    ['list', engine.list(me, ns)],
    ['claim', engine.claim(me, ns, id)],
    ['begin', engine.begin(me, lease)],
    ['renew', engine.renew(me, lease)],
    [
      'record',
      engine.record(me, lease, task as never, { kind: 'died', death: { kind: 'lease_lost' }, tail: '' }),
    ],
    ['handBack', engine.handBack(me, lease, 'w')],
    ['park', engine.park(me, ns, id, { reason: 'held', detail: '' })],
    ['resume', engine.resume(me, ns, id, {})],
    ['cancel', engine.cancel(me, ns, id, { reason: 'r' })],
    ['amend', engine.amend(me, ns, id, {})],
    ['settle', engine.settle(me, ns, id, { to: 'complete' })],
    ['pending', engine.pending(me, ns)],
    ['claimNext', engine.claimNext(me, ns)],
    ['retry', engine.retry(me, ns, id)],
    ['takeBack', engine.takeBack(me, ns, id, 'w')],
    ['pause', engine.pause(me, ns)],
    ['resumeNamespace', engine.resumeNamespace(me, ns)],
    ['repair', engine.repair(me, ns)],
    ['serve', engine.serve(me, ns, serving)],
    ['effects.read', engine.effects.read(me, ns, '0', { count: 1 })],
    ['effects.ack', engine.effects.ack(me, ns, '1-1')],
    ['ledger.read', engine.ledger.read(me, ns, '0', 1)],
    ['ledger.page', engine.ledger.page(me, ns, null, 2)],
    ['ledger.trim', engine.ledger.trim(me, ns, { epoch: 'e', id: '1-0', part: 0 })],
  ];
}

describe.each(lookAlikes.map((name) => [JSON.stringify(name.slice(0, 40)), name] as const))(
  'the look-alike %s',
  (_shown, name) => {
    it('is no namespace, in a record, a grant or a lane', () => {
      const unknown = expect.objectContaining({ code: 'unknown_namespace' });
      expect(() => parseNamespace(name)).toThrow(unknown);
      expect(namespaceSchema.safeParse(name).success).toBe(false);
      expect(newTaskSchema.safeParse({ ...newTask(), namespace: name }).success).toBe(false);
    });

    it('is unknown to every verb, even to a caller that claims to have it', async () => {
      for (const [verb, refused] of callAll(name))
        await expect(refused, verb).rejects.toMatchObject({ code: 'unknown_namespace' });
    });

    it('grants nothing', () => {
      const registry = makeRegistry([lane, agentLane]);
      const grant = (): Namespace[] => grantedNamespaces([name], registry);
      if (!name.endsWith('*')) expect(grant).toThrow(expect.objectContaining({ code: 'unknown_namespace' }));
      else expect(grant().filter(isFleetQueue)).toEqual([]);
    });
  },
);

it('nothing of all this reached the store', async () => {
  expect(await engine.count(callerNamed('app'), lane)).toMatchObject({ queued: 0 });
  await expect(engine.get(callerNamed('w', [foreign]), foreign, 'task0000')).rejects.toMatchObject({
    code: 'unknown_namespace',
  });
});

it('a pattern reaches no fleet namespace, however wide it is', () => {
  const registry = makeRegistry([lane, agentLane]);
  for (const pattern of [
    '*',
    'a*',
    'agent*',
    'agent:*',
    'agent:4*',
    'agent:42*',
    'broker:*',
    'broker:intake*',
  ])
    expect(grantedNamespaces([pattern], registry).filter(isFleetQueue), pattern).toEqual([]);
  expect(grantedNamespaces(['agent:42'], registry)).toEqual([agentLane]);
});
