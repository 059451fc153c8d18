/**
 * What a lane is for one repository: the operator's lane, narrowed by the repository's file. A repository can choose
 * among the lanes, rename their labels, ask for more proof and add words; it can never widen what the operator allowed.
 */
import { type Namespace, parseNamespace } from '../namespaces.ts';
import type { Lane, OperatorFile, RepositoryFile } from '../records/config.ts';

/** A lane as one repository uses it. */
export interface EffectiveLane {
  readonly lane: Lane;
  /** The repository's own words to the agent. */
  readonly instructions: string | undefined;
  /** Check name -> criteria that it proves, beside the operator's mapping. Only checks that the lane has. */
  readonly proves: Readonly<Record<string, readonly string[]>>;
}

/**
 * Fills in a lane's defaults.
 * @throws LaneError `unknown_namespace` where the name makes no namespace; a name that passed the schema always does.
 */
export function fillLane(name: string, lane: OperatorFile['lanes'][string]): Lane {
  const namespace: Namespace = lane.namespace ?? parseNamespace(`lane:${name}`);
  return { ...lane, name, namespace, label: lane.label ?? `lane:${name}` };
}

/**
 * The lane as a repository with this file uses it, or null where the file switches it off. A repository without a file
 * uses every lane as it is.
 */
export function effectiveLane(lane: Lane, file: RepositoryFile | null): EffectiveLane | null {
  if (file === null) return { lane, instructions: undefined, proves: {} };
  const own = Object.hasOwn(file.lanes, lane.name) ? file.lanes[lane.name] : undefined;
  if (own === undefined) return null;
  const narrowed: Lane = {
    ...lane,
    label: own.label ?? lane.label,
    proof: own.proof ?? lane.proof,
    onNoCriteria: own.onNoCriteria ?? lane.onNoCriteria,
  };
  const known = Object.entries(own.proves).filter(([check]) => Object.hasOwn(lane.checks, check));
  return { lane: narrowed, instructions: own.instructions, proves: Object.fromEntries(known) };
}

/** Labels are one to GitHub when they differ in case only. */
export function sameLabel(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
