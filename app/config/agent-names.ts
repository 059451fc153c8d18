/** Which variables of a worker's environment its lanes hand to their agents. */
import type { Lane } from '../../lanes/index.ts';

export function agentNames(lanes: readonly Lane[]): string[] {
  return lanes.flatMap(({ agent }) => (agent.kind === 'command' ? agent.env : []));
}
