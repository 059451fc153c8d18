import { describe, expect, test } from 'vitest';
import { parseNamespace } from '../../../lanes/namespaces.ts';
import { leaseSchema } from '../../../lanes/records/runs.ts';
import { grantLost, laneLost } from '../../../lanes/rules/entitled.ts';

const [docs, box] = [parseNamespace('lane:docs'), parseNamespace('agent:42')];

function heldBy(worker: string, namespace = docs) {
  const lease = leaseSchema.parse({
    ...{ namespace, task: 'task0000001', run: 1, fence: 1, id: '0123456789abcdef', worker },
    ...{ epoch: 'e1', endsAtMs: 1 },
  });
  return { namespace, lease };
}

describe('a running task', () => {
  const grants = new Map([
    ['worker-a', [docs]],
    ['box-42', [box]],
  ]);

  test('stays with a worker that is granted its namespace', () => {
    expect(grantLost(heldBy('worker-a'), grants)).toBeNull();
    expect(grantLost(heldBy('box-42', box), grants)).toBeNull();
  });

  test.each([
    ['worker-b', docs],
    ['box-42', docs],
    ['worker-a', box],
    ['', docs],
    ['toString', docs],
  ])('is taken from %j in %s', (worker, namespace) => {
    const lease = { ...heldBy('x', namespace).lease, worker };
    expect(grantLost({ namespace, lease }, grants)).toBe(`${worker} is not granted ${namespace} any more`);
  });

  test('that nobody holds is nobody to take from', () => {
    expect(grantLost({ namespace: docs }, grants)).toBeNull();
  });
});

test('a queued task is lost where its lane is gone, or has moved to another namespace', () => {
  const lanes = [{ name: 'docs', namespace: docs }];
  expect(laneLost({ lane: 'docs', namespace: docs }, lanes)).toBeNull();
  expect(laneLost({ lane: 'docs', namespace: box }, lanes)).toContain('no lane docs in agent:42');
  expect(laneLost({ lane: 'build', namespace: docs }, lanes)).toContain('no lane build in lane:docs');
});
