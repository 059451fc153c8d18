/**
 * The environment of agents and checks: an allow-list, nothing inherited. The worker's own is handed in, never read
 * here; what may pass from it is the few names that every program needs, and those that the lane's operator listed.
 */
import { join } from 'node:path';
import { LaneError } from '../errors.ts';

/** What every program needs to start and to print. */
const inherited = ['PATH', 'LANG', 'TZ'] as const;
/** Names that would hand an agent what is Lanekeeper's own, or that say what Lanekeeper decides. */
const reserved =
  /^(?:LANES_.*|LANEKEEPER_.*|APP_ID|PRIVATE_KEY(?:_PATH)?|WEBHOOK_.*|GITHUB_(?:API|SERVER)_URL|HOME|TMPDIR)$/;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment of one program in an io folder: its home and its temporary folder lie there.
 * @throws LaneError `agent_unavailable` where the lane lists a name that must not be passed on.
 */
export function makeEnvironment(input: {
  /** The worker's own environment, as configuration read it. */
  readonly worker: Environment;
  /** The names that the lane's operator listed. A name that the worker does not have is left out. */
  readonly names: readonly string[];
  readonly ioDir: string;
  /** The run's own variables, such as `LANES_TASK_FILE`. */
  readonly own: Readonly<Record<string, string>>;
}): Record<string, string> {
  const refused = input.names.find((name) => reserved.test(name));
  if (refused !== undefined) {
    throw new LaneError(
      'agent_unavailable',
      `the lane's agent.env names ${refused}, which no agent may have`,
    );
  }
  const passed = [...inherited, ...input.names].flatMap((name) => {
    const value = input.worker[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(passed),
    HOME: join(input.ioDir, 'home'),
    TMPDIR: join(input.ioDir, 'tmp'),
    ...input.own,
  };
}

/** Anything shorter would blank out ordinary words. */
const shortestSecret = 8;

/** The values that the operator handed to the agent by name: what its words must not carry further. */
export function handedSecrets(worker: Environment, names: readonly string[]): string[] {
  return names.flatMap((name) => worker[name] ?? []).filter((value) => value.length >= shortestSecret);
}
