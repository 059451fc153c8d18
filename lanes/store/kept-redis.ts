/**
 * The embedded Redis, kept alive: one that dies is started again on the same data and port, so that the connections
 * find it again and runs go on under their leases.
 */
import type { RedisUser } from './access/rule.ts';
import { type EmbeddedRedis, startEmbeddedRedis } from './embedded.ts';

export interface KeptRedis extends Pick<EmbeddedRedis, 'url' | 'stop'> {
  /** Resolves when it is gone for good: stopped, dead right after its start, or not to be started again. */
  readonly ended: Promise<void>;
}

export interface KeptOptions {
  readonly dataDir: string;
  /** The namespaces' users, asked for at each start. */
  users(): readonly RedisUser[];
  /** Hears of each death that is followed by a new start. */
  onDeath(): void;
}

/** One that dies sooner than this after its start would die again. */
const leastLifeMs = 2_000;

/** @throws LaneError `store_unavailable` where the first start fails. */
export async function keepEmbeddedRedis({ dataDir, users, onDeath }: KeptOptions): Promise<KeptRedis> {
  let redis = await startEmbeddedRedis({ dataDir, users });
  const { url } = redis;
  const port = Number(new URL(url).port);
  let stopping = false;

  const keep = async (): Promise<void> => {
    for (let sinceMs = performance.now(); ; sinceMs = performance.now()) {
      await redis.ended;
      if (stopping || performance.now() - sinceMs < leastLifeMs) return;
      onDeath();
      redis = await startEmbeddedRedis({ dataDir, users, port });
      if (stopping) return redis.stop();
    }
  };
  const ended = keep().catch(() => {});
  const stop = async (): Promise<void> => {
    stopping = true;
    await redis.stop();
    await ended;
  };
  return { url, ended, stop };
}
