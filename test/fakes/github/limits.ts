/**
 * GitHub's limits and people's rights, where emulate is too lenient.
 *
 * Numbers: a body holds 65,536 characters, a title 256, a label's name 50, an issue 100 labels.
 */
import { repoFacts } from './access.ts';
import type { Caller, JsonObject } from './call.ts';
import { at, invalid, Refusal, textAt } from './call.ts';
import type { RepoEntry } from './repos.ts';
import { rightsOf } from './rights.ts';
import type { World } from './world.ts';

const maxBody = 65_536;
const maxTitle = 256;
const maxLabel = 50;
const maxLabels = 100;

/** Characters as GitHub counts them: code points. */
function length(text: string): number {
  let count = 0;
  for (const _point of text) count++;
  return count;
}

/** Throws 422 for a body or title that is too long. */
export function checkTexts(resource: 'Issue' | 'IssueComment', body: JsonObject): void {
  if (length(textAt(body, 'body')) > maxBody) {
    throw invalid(resource, 'body', `body is too long (maximum is ${maxBody} characters)`);
  }
  if (length(textAt(body, 'title')) > maxTitle) {
    throw invalid(resource, 'title', `title is too long (maximum is ${maxTitle} characters)`);
  }
}

/** Throws 422 for a label name that is too long. */
export function checkLabelName(name: unknown): void {
  if (typeof name === 'string' && length(name) > maxLabel) {
    throw invalid('Label', 'name', `name is too long (maximum is ${maxLabel} characters)`);
  }
}

/** Throws 422 if the issue would carry too many labels. */
export function checkLabelCount(names: Iterable<string>): void {
  if (new Set(names).size > maxLabels) {
    throw invalid('Issue', 'labels', `labels is too long (maximum is ${maxLabels} labels)`);
  }
}

/** Throws 403 on an archived repository, 410 where issues are switched off. */
export async function refuseClosedRepo(world: World, repo: RepoEntry): Promise<void> {
  const facts = await repoFacts(world, repo);
  if (facts.has_issues === false) throw new Refusal(410, 'Issues are disabled for this repo');
  if (facts.archived === true) throw new Refusal(403, 'Repository was archived so is read-only.');
}

/** Throws 403 for a comment or reaction on an archived repository or a locked issue; people who can write may. */
export async function refuseFrozen(
  world: World,
  caller: Caller,
  repo: RepoEntry,
  issuePath: string,
  what: string,
): Promise<void> {
  await refuseClosedRepo(world, repo);
  const issue = await world.upstream.find(issuePath);
  if (at(issue, 'locked') !== true || (await may(world, caller, repo, 'push', false))) return;
  throw new Refusal(403, `${what} because issue is locked.`);
}

/** True if the caller has the right; an installation's answer is given, as its permissions are checked elsewhere. */
export async function may(
  world: World,
  caller: Caller,
  repo: RepoEntry,
  right: 'triage' | 'push' | 'maintain' | 'admin',
  installation = true,
): Promise<boolean> {
  if (caller.kind === 'installation') return installation;
  if (caller.kind !== 'person') return false;
  return (await rightsOf(world, repo, caller.person.login)).permissions[right];
}
