/** Judgements on Redis: what is acknowledged must be on disk, nothing may be evicted, nobody gets in without a user. */
import type { RedisFacts } from '../../lanes/index.ts';
import { type Finding, ok, warn } from './finding.ts';

/** A Redis that answered. What its user may not read is not known, and counts as such. */
export function judgeRedis(facts: RedisFacts, admitsAnybody: boolean): Finding[] {
  return [
    ok('redis', `Redis ${facts.version} answers`),
    judgeDurability(facts),
    judgeEviction(facts),
    admitsAnybody
      ? warn(
          'redis users',
          'it lets everybody in without a password',
          'Run `lanekeeper redis-acl --lock-default`: agents share the network of this machine.',
        )
      : ok('redis users', 'nobody gets in without a user'),
  ];
}

function judgeDurability({ appendOnly, appendFsync }: RedisFacts): Finding {
  const check = 'redis durability';
  if (!appendOnly)
    return warn(
      check,
      'appendonly no',
      'Set appendonly yes and appendfsync always: a crash loses what was accepted.',
    );
  if (appendFsync === null)
    return warn(
      check,
      'appendonly yes; this user may not read appendfsync',
      'See that appendfsync is always.',
    );
  const evidence = `appendonly yes, appendfsync ${appendFsync}`;
  if (appendFsync === 'always') return ok(check, evidence);
  return warn(check, evidence, 'Set appendfsync always: a power cut loses the last moments.');
}

function judgeEviction({ maxMemoryPolicy }: RedisFacts): Finding {
  const evidence = `maxmemory-policy ${maxMemoryPolicy}`;
  if (maxMemoryPolicy === 'noeviction') return ok('redis memory', evidence);
  return warn('redis memory', evidence, 'Set maxmemory-policy noeviction: an evicted key is a lost task.');
}
