/** An engine on a test's Redis, with short times where a test needs them. */
import { randomUUID } from 'node:crypto';
import { createEngine, type Engine, type EngineOptions, openRedis } from '../../lanes/index.ts';
import { makeRegistry, parseNamespace } from '../../lanes/namespaces.ts';
import { lane } from './tasks.ts';

export const agentLane = parseNamespace('agent:42');
export const registry = makeRegistry([lane, agentLane]);

export function testEngine(url: string, more: Partial<EngineOptions> = {}): Engine {
  return createEngine({ connect: () => openRedis(url), registry, id: () => randomUUID(), ...more });
}
