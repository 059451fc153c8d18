/**
 * What happened to an issue, read off its state before and after.
 */
import type { JsonObject } from './call.ts';
import { isObject, objectsIn, textAt } from './call.ts';
import type { RepoEvent } from './events.ts';
import type { World } from './world.ts';

/** The issue, or the pull request seen as an issue, at a path `/repos/{owner}/{repo}/issues/{number}`. */
export async function issueAt(world: World, path: string): Promise<JsonObject | undefined> {
  const issue = await world.upstream.find(path);
  if (isObject(issue)) return issue;
  const pull = await world.upstream.find(path.replace('/issues/', '/pulls/'));
  return isObject(pull) ? asIssue(pull) : undefined;
}

/** A pull request as the issue that it is too. */
export function asIssue(pull: JsonObject): JsonObject {
  return {
    ...pull,
    pull_request: { url: pull.url, html_url: pull.html_url, merged_at: pull.merged_at ?? null },
  };
}

/** The events that lead from one state of an issue or pull request to the next. */
export function eventsBetween(before: JsonObject, after: JsonObject): RepoEvent[] {
  const events: RepoEvent[] = [];
  const { pull_request: link, ...pull } = after;
  const subject = link ? { number: after.number, pull_request: pull } : { issue: after };
  const event = link ? 'pull_request' : 'issues';
  const add = (action: string, parts: JsonObject = {}) =>
    events.push({ event, action, parts: { ...subject, ...parts } });
  const changes = textChanges(before, after);
  if (Object.keys(changes).length > 0) add('edited', { changes });
  for (const label of missingFrom(after.labels, before.labels)) add('unlabeled', { label });
  for (const label of missingFrom(before.labels, after.labels)) add('labeled', { label });
  for (const assignee of missingFrom(after.assignees, before.assignees)) add('unassigned', { assignee });
  for (const assignee of missingFrom(before.assignees, after.assignees)) add('assigned', { assignee });
  if (before.locked !== after.locked) add(after.locked ? 'locked' : 'unlocked');
  if (before.state !== after.state) add(after.state === 'closed' ? 'closed' : 'reopened');
  return events;
}

function textChanges(before: JsonObject, after: JsonObject): JsonObject {
  const changed = ['title', 'body'].filter((name) => textAt(before, name) !== textAt(after, name));
  return Object.fromEntries(changed.map((name) => [name, { from: textAt(before, name) }]));
}

/** Objects of the second list whose id the first does not have. */
function missingFrom(list: unknown, other: unknown): JsonObject[] {
  const ids = new Set(objectsIn(list).map((one) => one.id));
  return objectsIn(other).filter((one) => !ids.has(one.id));
}
