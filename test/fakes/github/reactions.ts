/**
 * Reactions on issues and comments, which emulate does not have.
 *
 * A second reaction of the same person and content is the first one again, with 200 instead of 201.
 */
import { needPermission, repoFor } from './access.ts';
import type { Answer, Call, JsonObject, Route } from './call.ts';
import { invalid, isObject, jsonOf, param, Refusal, textAt } from './call.ts';
import { loginOf, senderOf } from './events.ts';
import { refuseFrozen } from './limits.ts';
import { paged } from './paging.ts';
import { fullName, type RepoEntry } from './repos.ts';
import { rightsOf } from './rights.ts';
import type { World } from './world.ts';

const contents = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes'];

interface Reaction {
  id: number;
  login: string;
  content: string;
  user: JsonObject;
  createdAt: string;
}

/** All reactions, by the path of what they stand on (`<repository id>/issues/7`). */
export class Reactions {
  readonly #bySubject = new Map<string, Reaction[]>();
  #nextId = 1;

  of(subject: string): Reaction[] {
    return this.#bySubject.get(subject) ?? [];
  }

  add(subject: string, reaction: Omit<Reaction, 'id'>): Reaction {
    const added = { ...reaction, id: this.#nextId++ };
    this.#bySubject.set(subject, [...this.of(subject), added]);
    return added;
  }

  remove(subject: string, id: number): Reaction | undefined {
    const found = this.of(subject).find((one) => one.id === id);
    const rest = this.of(subject).filter((one) => one !== found);
    this.#bySubject.set(subject, rest);
    return found;
  }

  /** The `reactions` field of an issue or comment, with its counts. */
  summary(subject: string, url: string): JsonObject {
    const count = (content: string) => this.of(subject).filter((one) => one.content === content).length;
    const counts = Object.fromEntries(contents.map((content) => [content, count(content)]));
    return { url, total_count: this.of(subject).length, ...counts };
  }
}

const subjects = ['/repos/:owner/:repo/issues/comments/:id', '/repos/:owner/:repo/issues/:id'];

export function reactionRoutes(world: World): Route[] {
  return subjects.flatMap((subject) => [
    { method: 'GET', pattern: `${subject}/reactions`, handle: (call, params) => list(world, call, params) },
    {
      method: 'POST',
      pattern: `${subject}/reactions`,
      handle: (call, params) => create(world, call, params),
    },
    {
      method: 'DELETE',
      pattern: `${subject}/reactions/:reaction`,
      handle: (call, params) => remove(world, call, params),
    },
  ]);
}

interface Subject {
  repo: RepoEntry;
  key: string;
  /** The issue whose state decides whether one may react. */
  issuePath: string;
}

async function subjectOf(world: World, call: Call, params: Record<string, string>): Promise<Subject> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  const id = param(params, 'id');
  const kind = call.path.includes('/issues/comments/') ? 'issues/comments' : 'issues';
  const path = `/repos/${fullName(repo)}/${kind}/${id}`;
  const found = await world.upstream.find(path);
  if (!isObject(found)) throw new Refusal(404, 'Not Found');
  const issuePath = kind === 'issues' ? path : new URL(textAt(found, 'issue_url')).pathname;
  return { repo, key: `${repo.id}/${kind}/${id}`, issuePath };
}

async function list(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const { key } = await subjectOf(world, call, params);
  const wanted = call.query.get('content');
  const all = world.reactions.of(key).filter((one) => wanted === null || one.content === wanted);
  return paged(world, call, all.map(shown));
}

async function create(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  if (call.caller.kind === 'anonymous') throw new Refusal(401, 'Requires authentication');
  const content = textAt(jsonOf(call), 'content');
  if (!contents.includes(content))
    throw invalid('Reaction', 'content', 'content is not included in the list');
  const { repo, key, issuePath } = await subjectOf(world, call, params);
  needPermission(call.caller, 'issues', 'write');
  await refuseFrozen(world, call.caller, repo, issuePath, 'Unable to react');
  const login = loginOf(call.caller);
  const present = world.reactions.of(key).find((one) => one.login === login && one.content === content);
  if (present) return { status: 200, body: shown(present) };
  const user = await senderOf(world, call.caller);
  const createdAt = new Date(world.now()).toISOString();
  return { status: 201, body: shown(world.reactions.add(key, { login, content, user, createdAt })) };
}

async function remove(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const { repo, key } = await subjectOf(world, call, params);
  needPermission(call.caller, 'issues', 'write');
  const id = Number(param(params, 'reaction'));
  const login = loginOf(call.caller);
  const present = world.reactions.of(key).find((one) => one.id === id);
  if (!present) throw new Refusal(404, 'Not Found');
  if (present.login !== login && !(await rightsOf(world, repo, login)).permissions.push) {
    throw new Refusal(403, 'Must have push access to delete a reaction of someone else');
  }
  world.reactions.remove(key, id);
  return { status: 204 };
}

function shown(reaction: Reaction): JsonObject {
  return {
    id: reaction.id,
    node_id: Buffer.from(`Reaction${reaction.id}`).toString('base64'),
    user: reaction.user,
    content: reaction.content,
    created_at: reaction.createdAt,
  };
}
