/**
 * What the rooms of one running stand-in share.
 */
import type { AppBook } from './apps.ts';
import type { Hooks } from './hooks.ts';
import type { People } from './people.ts';
import type { Reactions } from './reactions.ts';
import type { RepoBook } from './repos.ts';
import type { Upstream } from './upstream.ts';

export interface World {
  /** Where the stand-in listens, without a slash at the end. */
  url: string;
  upstream: Upstream;
  people: People;
  apps: AppBook;
  repos: RepoBook;
  reactions: Reactions;
  hooks: Hooks;
  /** The private key that emulate trusts for every App. */
  innerKey: string;
  now: () => number;
  /** A fresh random text of 40 hexadecimal digits. */
  secret: () => string;
  /** Runs changes one after the other, so that what is told follows the order of what was done. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}
