/**
 * What an issue costs at GitHub, from its label to its close: a clean read-only run by the product as it is started,
 * against the stand-in. The repository's file is cached by an earlier issue. Tokens and git are told apart, and so is
 * what the label scan asks, which does not depend on issues.
 */

import { openStage, type Stage } from '../demo/stage.ts';
import { waitFor } from '../demo/watch.ts';
import type { Counts } from '../fakes/github/counts.ts';
import type { BenchRow } from './row.ts';

const config = `
lanes:
  review:
    agent: { kind: checks }
    checks:
      version: { run: [node, --version], proves: ["*"] }
`;

const body = '## Acceptance criteria\n- [ ] Node is there\n';
const apart: readonly (keyof Counts)[] = ['token_mint', 'git', 'issue_list', 'repository_list'];

/** Measures `github_calls`; says the requests by kind with `say`. */
export async function benchGithubCalls(say: (line: string) => void): Promise<BenchRow[]> {
  const stage = await openStage(process.env, config);
  try {
    await closeOne(stage);
    stage.github.resetCounts();
    await closeOne(stage);
    const counts = Object.entries(stage.github.counts()) as [keyof Counts, number][];
    const told = counts.filter(([, count]) => count > 0).map(([kind, count]) => `${kind} ${count}`);
    say(`github_calls, by kind: ${told.join(', ')} (apart: ${apart.join(', ')})`);
    const ours = counts.filter(([kind]) => !apart.includes(kind)).reduce((sum, [, count]) => sum + count, 0);
    return [{ name: 'github_calls', ours, peer: null, unit: 'requests/issue', ratio: null, bound: '<= 9' }];
  } finally {
    await stage.close();
  }
}

async function closeOne({ watched, github }: Stage): Promise<void> {
  const { people, owner, repo } = watched;
  const { data } = await people.issues.create({ owner, repo, title: 'A look at Node', body });
  await people.issues.addLabels({ owner, repo, issue_number: data.number, labels: ['lane:review'] });
  await waitFor(watched, data.number, 'closing', ({ state }) => state === 'closed');
  await github.settle();
}
