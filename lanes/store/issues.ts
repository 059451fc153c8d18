/** What the App keeps of an issue, moved by compare-and-set on its version; and which issues have a live task. */
import type { Redis } from 'ioredis';
import { LaneError } from '../errors.ts';
import type { Namespace } from '../namespaces.ts';
import type { IssueRef } from '../records/common.ts';
import { type IssueRecord, issueRecordSchema } from '../records/issues.ts';
import { ask } from './answers.ts';
import { issueKey, liveIssuesKey, repositoriesKey } from './keys.ts';
import { makeScript, runScript } from './script.ts';

/**
 * KEYS: issue, live issues, repositories. ARGV: version seen, next version, record, member, 1 if live, repository name,
 * repository id. Answers 1 if written.
 */
const writeScript = makeScript(`
local version = redis.call('HGET', KEYS[1], 'version') or '0'
if version ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'record', ARGV[3])
redis.call('HSET', KEYS[3], ARGV[6], ARGV[7])
if ARGV[5] == '1' then redis.call('SADD', KEYS[2], ARGV[4]) else redis.call('SREM', KEYS[2], ARGV[4]) end
return 1
`);

const tries = 30;
const pageSize = 200;
const keptDecisions = 50;

export interface Issues {
  get(repositoryId: number, number: number): Promise<IssueRecord | null>;
  /**
   * Changes an issue's record by a pure function of what is there (a blank record where nothing is). The function may
   * run more than once; null means leave it. Versions and the oldest of more than 50 decisions are seen to here.
   * @throws LaneError `task_conflict` where others kept writing first.
   */
  update(issue: IssueRef, change: (record: IssueRecord) => IssueRecord | null): Promise<IssueRecord>;
  /** The records of issues with this number, in the repository of this name or in all. */
  find(number: number, repository?: string): Promise<IssueRecord[]>;
  /** The records that point at a live task. */
  live(): Promise<IssueRecord[]>;
}

export function makeIssues(redis: Redis, ns: Namespace): Issues {
  const read = async (member: string): Promise<IssueRecord | null> => {
    const json = await ask(redis, () => redis.hget(issueKey(ns, member), 'record'));
    if (json === null) return null;
    try {
      return issueRecordSchema.parse(JSON.parse(json));
    } catch (cause) {
      throw new LaneError('store_unavailable', `the record of issue ${member} cannot be read`, { cause });
    }
  };
  const write = async (member: string, seen: IssueRecord, record: IssueRecord): Promise<boolean> => {
    const live = record.pointer === undefined ? 0 : 1;
    const { repository, repositoryId } = record.issue;
    const text = JSON.stringify(record);
    const args = [seen.version, record.version, text, member, live, repository.toLowerCase(), repositoryId];
    const keys = [issueKey(ns, member), liveIssuesKey(ns), repositoriesKey(ns)];
    return (await ask(redis, () => runScript(redis, writeScript, keys, args))) === 1;
  };

  return {
    get: (repositoryId, number) => read(memberOf({ repositoryId, number })),

    async update(issue, change) {
      const member = memberOf(issue);
      for (let attempt = 0; attempt < tries; attempt += 1) {
        const seen = (await read(member)) ?? blank(issue);
        const changed = change(seen);
        if (changed === null) return seen;
        const decisions = changed.decisions.slice(-keptDecisions);
        const record = issueRecordSchema.parse({ ...changed, decisions, version: seen.version + 1 });
        if (await write(member, seen, record)) return record;
      }
      throw new LaneError('task_conflict', `issue ${member}`);
    },

    async find(number, repository) {
      const names = await ask(redis, () => redis.hgetall(repositoriesKey(ns)));
      const wanted = repository === undefined ? Object.values(names) : [names[repository.toLowerCase()]];
      const ids = [...new Set(wanted)].filter((id) => id !== undefined);
      const found = await Promise.all(ids.map((id) => read(`${id}:${number}`)));
      return found.filter((record) => record !== null);
    },

    async live() {
      const members = await ask(redis, () => redis.smembers(liveIssuesKey(ns)));
      const found: IssueRecord[] = [];
      for (let at = 0; at < members.length; at += pageSize) {
        const page = await Promise.all(members.slice(at, at + pageSize).map(read));
        found.push(...page.filter((record) => record !== null));
      }
      return found;
    },
  };
}

function memberOf({ repositoryId, number }: Pick<IssueRef, 'repositoryId' | 'number'>): string {
  return `${repositoryId}:${number}`;
}

function blank(issue: IssueRef): IssueRecord {
  return { issue, version: 0, waiting: [], criteria: [], minted: 0, dispositions: {}, decisions: [] };
}
