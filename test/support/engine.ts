/**
 * An engine on a test's Redis, with short times where a test needs them. It logs in with a user for each namespace,
 * where the address names nobody: so every verb that is tested is known to be allowed to them.
 */
import { randomUUID } from 'node:crypto';
import { createEngine, type Engine, type EngineOptions, openRedis } from '../../lanes/index.ts';
import { makeRegistry, parseNamespace } from '../../lanes/namespaces.ts';
import { testCredential } from './redis-users.ts';
import { lane } from './tasks.ts';

export const agentLane = parseNamespace('agent:42');
export const registry = makeRegistry([lane, agentLane]);

export function testEngine(url: string, more: Partial<EngineOptions> = {}): Engine {
  const connect: EngineOptions['connect'] = (ns) =>
    new URL(url).username === '' ? openRedis(url, testCredential(ns)) : openRedis(url);
  return createEngine({ connect, registry, id: () => randomUUID(), ...more });
}
