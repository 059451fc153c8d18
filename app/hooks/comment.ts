/**
 * `issue_comment.created`: commands, one a line, from permitted people. Each is answered by what it changed, or by why
 * not, in one short comment; what a note tells needs no other answer. A command by anybody else gets a reaction only.
 */
import { githubNamespace, type IssueRef, type ParsedCommand, parseCommands } from '../../lanes/index.ts';
import type { Outcome } from '../broker/note/index.ts';
import { carryOut } from './commands/carry-out.ts';
import type { Desk } from './desk/port.ts';
import { addReaction, type Cause, decide, liveTask, recordOf } from './desk/records.ts';
import { actorOf, type CommentPayload, isPullRequest, refOf, senderOf } from './payload.ts';

export async function onComment(desk: Desk, payload: CommentPayload, cause: Cause): Promise<void> {
  const sender = senderOf(payload, desk.app.slug);
  if (sender.ours || sender.bot || isPullRequest(payload)) return;
  const ref = refOf(payload);
  const commands = parseCommands(payload.comment.body ?? '');
  if (commands.length === 0 || !desk.listed(ref.repository)) return;
  const comment = payload.comment.id;
  if (!(await desk.github.permitted(ref, sender.login))) {
    // A stranger's comment alone makes no record: else everybody could fill the store.
    if (await recordOf(desk, ref))
      await decide(desk, ref, cause, { verdict: 'refuse', reason: 'not_permitted' });
    return addReaction(desk, ref, 'confused', `comment:${comment}`, comment);
  }
  const outcomes = (await carryOutAll(desk, payload, cause, commands)).filter((outcome) => outcome !== null);
  if (outcomes.length === 0) return;
  const task = await liveTask(desk, await recordOf(desk, ref));
  await answer(desk, ref, comment, desk.answer(outcomes, task));
}

/**
 * Carries the commands out one after the other. Each outcome is put down before the next one, so that the same delivery
 * handled again goes on where it stopped.
 */
async function carryOutAll(
  desk: Desk,
  payload: CommentPayload,
  cause: Cause,
  commands: readonly ParsedCommand[],
): Promise<(Outcome | null)[]> {
  const key = `command:${payload.repository.id}:${payload.comment.id}`;
  const caller = desk.caller(githubNamespace);
  const kept = await desk.engine.intents.get(caller, key);
  const outcomes: (Outcome | null)[] = Array.isArray(kept) ? [...kept] : [];
  const { title, body } = payload.issue;
  const by = { ref: refOf(payload), actor: actorOf(payload), cause, seen: { title, body } };
  for (const parsed of commands.slice(outcomes.length)) {
    outcomes.push(await carryOut(desk, by, parsed));
    await desk.engine.intents.put(caller, key, outcomes);
  }
  return outcomes;
}

async function answer(desk: Desk, issue: IssueRef, comment: number, body: string): Promise<void> {
  await desk.engine.loose.add(desk.caller(githubNamespace), {
    kind: 'comment',
    key: `answer:${issue.repositoryId}:${comment}`,
    issue,
    body,
  });
}
