/** What a Redis says of itself, for whoever judges whether it can be rested on. */
import { lookWith } from './connect.ts';

export interface RedisFacts {
  readonly version: string;
  readonly appendOnly: boolean;
  /** Null where the user may not read it. */
  readonly appendFsync: string | null;
  readonly maxMemoryPolicy: string;
}

/**
 * Reads what INFO and CONFIG tell the user of the address.
 * @throws LaneError `store_unavailable` or `store_refused` with one clear line.
 */
export async function lookAtRedis(
  url: string,
  credential?: { readonly username: string; readonly password: string },
): Promise<RedisFacts> {
  return await lookWith(url, credential, async (redis) => {
    const info = await redis.info();
    const told = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? 'unknown';
    const config = await redis.config('GET', 'appendfsync').catch(() => null);
    const [, appendFsync] = Array.isArray(config) ? config : [];
    return {
      version: told('redis_version'),
      appendOnly: told('aof_enabled') === '1',
      appendFsync: typeof appendFsync === 'string' ? appendFsync : null,
      maxMemoryPolicy: told('maxmemory_policy'),
    };
  });
}
