/** The fleet verbs as MCP tools. Each is thin over the session; a refusal is a tool error with its code and message. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import {
  agentResultSchema,
  type ClaimAnswer,
  isLaneError,
  LaneError,
  makeTaskFile,
  maxClaimWaitMs,
  renderPrompt,
} from '../../../lanes/index.ts';
import type { McpSession } from './session.ts';

const lease = z.string().min(1).describe('The lease that task_claim gave.');
const waitMs = z
  .int()
  .nonnegative()
  .max(maxClaimWaitMs)
  .default(0)
  .describe('How long to wait for work, in milliseconds.');
const longText = z.string().min(1).max(10_000);

const inputs = {
  none: z.strictObject({}),
  wait: z.strictObject({ waitMs }),
  heartbeat: z.strictObject({
    lease,
    progress: z.string().max(500).optional().describe('One line for the people on the issue.'),
  }),
  complete: agentResultSchema.extend({
    lease,
    patch: z
      .string()
      .min(1)
      .optional()
      .describe('Your changes as `git diff --binary` prints them, in a lane that writes.'),
    base: z
      .string()
      .regex(/^[0-9a-f]{40,64}$/)
      .optional()
      .describe("The full commit id that the patch is made on. Default: the default branch's head."),
  }),
  park: z.strictObject({
    lease,
    question: longText.describe('What a person must decide or do before the work can go on.'),
    summary: z.string().max(20_000).default('').describe('What you did or found so far.'),
  }),
} as const;

const descriptions = {
  pending: 'How many tasks wait in your namespace. Claims nothing.',
  wait: 'Waits until a task is there, or the time is over, and says how many wait. Claims nothing.',
  claim:
    'Takes the next task, as yourself. You get the issue, its criteria, what to do in words (`prompt`), and a lease. ' +
    'The lease is renewed for you while this session lasts. You hold one task at a time: end it by task_complete or ' +
    'task_park.',
  heartbeat: 'Renews the lease now, and tells people how far you are.',
  complete:
    'Ends your task: a verdict with evidence for every criterion. Your evidence counts as asserted. If the answer is ' +
    'proof_unverified nothing was recorded and you still hold the task: park it, or complete it with other verdicts.',
  park: 'Stops the task and asks a person. Nothing is lost: it goes on with their answer.',
} as const;

/** @param template the Liquid text of `templates/prompts/mcp.md` */
export function makeMcpServer(
  session: McpSession,
  about: { readonly version: string; readonly template: string; readonly id: () => string },
): McpServer {
  const server = new McpServer({ name: 'lanekeeper', version: about.version });
  server.registerTool('task_pending', { description: descriptions.pending, inputSchema: inputs.none }, () =>
    answer(async () => ({ pending: await session.pending() })),
  );
  server.registerTool(
    'task_wait',
    { description: descriptions.wait, inputSchema: inputs.wait },
    (input, { signal }) => answer(async () => ({ pending: await session.wait(input.waitMs, signal) })),
  );
  server.registerTool(
    'task_claim',
    { description: descriptions.claim, inputSchema: inputs.wait },
    (input, { signal }) =>
      answer(async () => {
        const claim = await session.claim(input.waitMs, signal);
        return claim === null ? { claimed: false } : { claimed: true, ...shown(claim, about) };
      }),
  );
  server.registerTool(
    'task_heartbeat',
    { description: descriptions.heartbeat, inputSchema: inputs.heartbeat },
    (input) => answer(async () => ({ endsInMs: await session.heartbeat(input.lease, input.progress) })),
  );
  server.registerTool(
    'task_complete',
    { description: descriptions.complete, inputSchema: inputs.complete },
    (input) =>
      answer(() => {
        const { lease: held, patch: text, base, ...result } = input;
        return session.complete(held, result, text === undefined ? undefined : { text, base });
      }),
  );
  server.registerTool('task_park', { description: descriptions.park, inputSchema: inputs.park }, (input) =>
    answer(() => {
      const { lease: held, question, summary } = input;
      return session.park(held, { outcome: 'needs_person', summary, question, dispositions: [] });
    }),
  );
  return server;
}

/** What the agent is told of its task. */
function shown(claim: ClaimAnswer, about: { readonly template: string; readonly id: () => string }): object {
  const { lane, input, taskRecord: task, run } = claim;
  const nowhere = { base: '', branch: '', resultFile: '', earlierPatch: null };
  // What to clone with is no part of this: a token has no place in a model's words.
  const file = makeTaskFile({ ...nowhere, task, run, lane, input });
  const { issue, criteria, checks, answers, earlierRuns } = file;
  return {
    ...{ lease: claim.lease, endsInMs: claim.endsInMs, task: claim.task, run, lane: lane.name },
    ...{ writes: lane.writes, proof: lane.proof, issue, criteria, checks, answers, earlierRuns },
    prompt: renderPrompt(about.template, file, about.id()),
  };
}

async function answer(work: () => Promise<object>): Promise<CallToolResult> {
  try {
    return { content: [{ type: 'text', text: JSON.stringify(await work()) }] };
  } catch (error) {
    const known = isLaneError(error) ? error : new LaneError('internal');
    const { code, message, retryable } = known;
    return {
      isError: true,
      content: [{ type: 'text', text: JSON.stringify({ error: { code, message, retryable } }) }],
    };
  }
}
