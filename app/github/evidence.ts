/** Looking up what evidence points at, in the same repository only. A URL is never fetched. */
import { z } from 'zod';
import type { Api, RepositoryRef } from './api.ts';
import { failureOf } from './failure.ts';
import { makeIssueCalls } from './issue.ts';

export type EvidenceQuery =
  | { readonly kind: 'commit'; readonly sha: string }
  | { readonly kind: 'issue' | 'pull'; readonly number: number }
  | { readonly kind: 'run'; readonly id: number };

export interface EvidenceAnswer {
  readonly found: boolean;
  /** What was looked at, for people. */
  readonly how: string;
}

const runSchema = z.object({ status: z.string().nullish(), conclusion: z.string().nullish() });
const pullSchema = z.object({ merged: z.boolean().nullish(), state: z.string().nullish() });

export interface EvidenceCalls {
  lookUp(ref: RepositoryRef, query: EvidenceQuery): Promise<EvidenceAnswer>;
  /**
   * Whether an issue with this number exists in the repository and is open: the target of `moved`. One that was
   * transferred lives elsewhere, and a pull request, which GitHub numbers alike, is none.
   */
  openIssue(ref: RepositoryRef, number: number): Promise<boolean>;
}

function asked(query: EvidenceQuery): { route: string; parameters: Record<string, unknown>; what: string } {
  if (query.kind === 'commit') {
    const route = 'GET /repos/{owner}/{repo}/commits/{ref}';
    return { route, parameters: { ref: query.sha }, what: `commit ${query.sha}` };
  }
  if (query.kind === 'run') {
    const route = 'GET /repos/{owner}/{repo}/actions/runs/{run_id}';
    return { route, parameters: { run_id: query.id }, what: `workflow run ${query.id}` };
  }
  const [route, key] =
    query.kind === 'pull'
      ? ['GET /repos/{owner}/{repo}/pulls/{pull_number}', 'pull_number']
      : ['GET /repos/{owner}/{repo}/issues/{issue_number}', 'issue_number'];
  return { route, parameters: { [key]: query.number }, what: `${query.kind} #${query.number}` };
}

function standing(query: EvidenceQuery, data: unknown): string {
  if (query.kind === 'run') {
    const run = runSchema.safeParse(data);
    return run.success ? `, ${run.data.conclusion ?? run.data.status ?? 'state unknown'}` : '';
  }
  if (query.kind === 'pull') {
    const pull = pullSchema.safeParse(data);
    return pull.success
      ? `, ${pull.data.merged === true ? 'merged' : (pull.data.state ?? 'state unknown')}`
      : '';
  }
  return '';
}

export function makeEvidenceCalls(api: Api): EvidenceCalls {
  const { issue } = makeIssueCalls(api);
  return {
    async lookUp(ref, query) {
      const { route, parameters, what } = asked(query);
      try {
        const reply = await api.inRepository(ref, route, parameters);
        return { found: true, how: `${what} is in ${api.nameOf(ref)}${standing(query, reply.data)}` };
      } catch (error) {
        const kind = failureOf(error, 0).kind;
        if (kind !== 'gone' && kind !== 'invalid' && kind !== 'forbidden') throw error;
        return { found: false, how: `${what} was not found in ${api.nameOf(ref)}` };
      }
    },
    async openIssue(ref, number) {
      const look = await issue({ ...ref, number });
      return look.kind === 'issue' && look.issue.open && !look.issue.pullRequest;
    },
  };
}
