/** Redis and an engine on it for the tests of one file. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import type { Engine, EngineOptions } from '../../lanes/index.ts';
import { testEngine } from './engine.ts';
import { startTestRedis, type TestRedis } from './redis.ts';

export interface OpenEngine {
  readonly server: TestRedis;
  /** The superuser's connection, for a look or a hand from outside. */
  readonly raw: Redis;
  readonly engine: Engine;
}

/** A Redis and an engine for all tests of a file: `take` gets them before the first, and they are closed after the last. */
export function useEngine(take: (opened: OpenEngine) => void, more: Partial<EngineOptions> = {}): void {
  let opened: OpenEngine;
  beforeAll(async () => {
    const server = await startTestRedis();
    opened = { server, raw: new Redis(server.url), engine: testEngine(server.url, more) };
    take(opened);
  });
  afterAll(async () => {
    await opened.engine.close();
    opened.raw.disconnect();
    await opened.server.stop();
  });
}
