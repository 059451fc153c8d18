/** Effects as jobs: where each comes from, what it must keep its order with, how it is delivered or given up. */
import {
  githubNamespace,
  type IssueRef,
  type LooseEffect,
  type Namespace,
  type TaskEffect,
} from '../../lanes/index.ts';
import type { Failure } from '../github/failure.ts';
import { bindingOf } from '../hooks/desk/binding.ts';
import type { Closer } from './close.ts';
import type { LooseDelivery } from './loose.ts';
import { deliverNote } from './parked-note.ts';
import type { BrokerDeps } from './port.ts';
import type { Poster } from './post.ts';
import { moveOn, noteRefusal } from './refused.ts';

/** One effect on its way. */
export interface Job {
  /** Its place: stream and entry. */
  readonly key: string;
  /** Effects with the same order are delivered one after the other. */
  readonly order: string;
  readonly issue: IssueRef;
  readonly what: string;
  /** Whether what others wait for goes first. */
  readonly canWait: boolean;
  deliver(): Promise<void>;
  /** GitHub refused it for good. */
  refused(failure: Failure): Promise<void>;
  /** Takes it off its stream. */
  ack(): Promise<void>;
}

export interface Deliverers {
  readonly poster: Poster;
  readonly closer: Closer;
  readonly loose: LooseDelivery;
}

const pageSize = 200;
const maxPages = 5;

async function deliverTask(
  deps: BrokerDeps,
  { poster, closer }: Deliverers,
  namespace: Namespace,
  effect: TaskEffect,
): Promise<void> {
  const record = await bindingOf(deps.desk, namespace, effect.task);
  if (record === null) {
    const particulars = { namespace, task: effect.task.id, kind: effect.kind };
    deps.desk.log('warn', 'an effect was dropped: the issue is not bound to its task', particulars);
    return;
  }
  if (effect.kind === 'close') return closer.deliver(namespace, effect, record);
  return deliverNote(deps, poster, namespace, effect, record);
}

function taskJob(
  deps: BrokerDeps,
  by: Deliverers,
  namespace: Namespace,
  id: string,
  effect: TaskEffect,
): Job {
  const { desk, engine } = deps;
  const { issue, id: task } = effect.task;
  const what = effect.kind === 'close' ? 'the close' : `the note "${effect.state}"`;
  return {
    key: `${namespace} ${id}`,
    order: `task ${task}`,
    issue,
    what,
    canWait: false,
    deliver: () => deliverTask(deps, by, namespace, effect),
    async refused(failure) {
      await noteRefusal(desk, issue, what, failure);
      await moveOn(desk, { namespace, task, issue }, failure);
    },
    ack: () => engine.effects.ack(desk.caller(namespace), namespace, id),
  };
}

function looseJob({ desk, engine }: BrokerDeps, { loose }: Deliverers, id: string, effect: LooseEffect): Job {
  const what = `a ${effect.kind}`;
  return {
    key: `${githubNamespace} ${id}`,
    order: `issue ${effect.issue.repositoryId}#${effect.issue.number}`,
    issue: effect.issue,
    what,
    canWait: effect.kind === 'reaction' && effect.comment !== undefined,
    deliver: () => loose.deliver(effect),
    refused: (failure) => noteRefusal(desk, effect.issue, what, failure),
    ack: () => engine.loose.ack(desk.caller(githubNamespace), id),
  };
}

/** An entry of a stream; null where it cannot be read. */
interface Entry<E> {
  readonly id: string;
  readonly effect: E | null;
}

interface Source<E> {
  readonly name: string;
  read(after: string): Promise<readonly Entry<E>[]>;
  job(id: string, effect: E): Job;
  drop(id: string): Promise<void>;
}

/** The jobs of a stream, oldest first, bounded. An entry that cannot be read is dropped, and said so. */
async function jobsOf<E>(deps: BrokerDeps, source: Source<E>): Promise<Job[]> {
  const jobs: Job[] = [];
  try {
    await readJobs(deps, source, jobs);
  } catch (error) {
    deps.desk.log('error', 'a stream of effects could not be read', {
      stream: source.name,
      error: String(error),
    });
  }
  return jobs;
}

async function readJobs<E>(deps: BrokerDeps, source: Source<E>, jobs: Job[]): Promise<void> {
  let after = '0';
  for (let page = 0; page < maxPages; page += 1) {
    const entries = await source.read(after);
    for (const { id, effect } of entries) {
      after = id;
      if (effect !== null) jobs.push(source.job(id, effect));
      else {
        deps.desk.log('error', 'an effect could not be read and was dropped', { stream: source.name, id });
        await source.drop(id);
      }
    }
    if (entries.length < pageSize) break;
  }
}

/**
 * Everything that waits to be delivered: what people wait for first, then the reactions to comments, which anybody can
 * bring about, as many as they like. A stream that cannot be read holds up no other.
 */
export async function waitingJobs(deps: BrokerDeps, by: Deliverers): Promise<Job[]> {
  const { desk, engine, namespaces } = deps;
  const options = { count: pageSize };
  const github = desk.caller(githubNamespace);
  const loose = jobsOf<LooseEffect>(deps, {
    name: githubNamespace,
    read: (after) => engine.loose.read(github, after, options),
    job: (id, effect) => looseJob(deps, by, id, effect),
    drop: (id) => engine.loose.ack(github, id),
  });
  const tasks = namespaces.map((namespace) => {
    const caller = desk.caller(namespace);
    return jobsOf<TaskEffect>(deps, {
      name: namespace,
      read: (after) => engine.effects.read(caller, namespace, after, options),
      job: (id, effect) => taskJob(deps, by, namespace, id, effect),
      drop: (id) => engine.effects.ack(caller, namespace, id),
    });
  });
  const jobs = (await Promise.all([loose, ...tasks])).flat();
  return [...jobs.filter(({ canWait }) => !canWait), ...jobs.filter(({ canWait }) => canWait)];
}
