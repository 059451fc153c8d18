/** The desk of a running App: Probot's clients, the operator's lanes, the bounded reading of bodies, clock and ids. */
import { createHash, randomBytes } from 'node:crypto';
import picomatch from 'picomatch';
import type { Logger } from 'pino';
import type { Probot } from 'probot';
import { type Engine, makeCaller } from '../../../lanes/index.ts';
import { makeAnswerText } from '../../broker/note-text.ts';
import type { OperatorConfig } from '../../config/operator-file.ts';
import { readRepositoryFile } from '../../config/repository-file.ts';
import { readBody } from '../../github/body/index.ts';
import { clientsOf } from '../../github/client.ts';
import { type AppIdentity, makeGitHub } from '../../github/index.ts';
import type { Desk } from './port.ts';

export interface DeskOptions {
  readonly engine: Engine;
  readonly probot: Probot;
  readonly app: AppIdentity;
  readonly operator: OperatorConfig;
  /** Clone base. */
  readonly serverUrl: string;
  /** Exact words that must never appear in an answer. */
  readonly secrets: readonly string[];
  readonly log: Logger;
}

export function makeDesk(options: DeskOptions): Desk {
  const { engine, probot, app, operator, serverUrl, secrets, log } = options;
  // Matched as GitHub compares names: without regard to case.
  const isListed = picomatch([...operator.repositories], { nocase: true });
  return {
    engine,
    // The App acts in a namespace as that namespace's caller, and as nobody else at that moment.
    caller: (namespace) => makeCaller('app', [namespace]),
    github: makeGitHub({
      clients: clientsOf(probot),
      app,
      serverUrl,
      parseRepositoryFile: readRepositoryFile,
      now: Date.now,
    }),
    app,
    lanes: operator.lanes,
    listed: (repository) => isListed(repository),
    readBody,
    answer: makeAnswerText(secrets),
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    id: () => randomBytes(16).toString('hex'),
    now: Date.now,
    log: (level, message, particulars) => log[level](particulars ?? {}, message),
  };
}
