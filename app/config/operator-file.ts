/** The operator's file `lanekeeper.yml`: which lanes there are, where they may be used, and who may work in them. */
import { readFileSync } from 'node:fs';
import {
  appIdentity,
  fillLane,
  grantedNamespaces,
  isLaneError,
  type Lane,
  makeRegistry,
  type Namespace,
  namespaceSchema,
  type OperatorFile,
  operatorFileSchema,
  type Registry,
  sameLabel,
} from '../../lanes/index.ts';
import { ConfigError, type Problem } from './problems.ts';
import { readYaml } from './yaml.ts';

/** What this installation may do, with every default filled in. */
export interface OperatorConfig {
  /** Patterns `owner/name`, where `*` stands for any part. */
  readonly repositories: readonly string[];
  readonly lanes: readonly Lane[];
  readonly registry: Registry;
  /** Worker identity -> what it may consume. */
  readonly grants: ReadonlyMap<string, readonly Namespace[]>;
}

/** One lane that runs no program of anybody's: it reads the criteria, and says on the issue what to set up. */
const withoutFile: OperatorFile = operatorFileSchema.parse({
  lanes: { triage: { agent: { kind: 'checks' } } },
});

/**
 * Loads the operator's file. Where `path` is null there is none, and the one lane `triage` is all there is. Without a
 * `grants` section, `localWorker` is granted `main` and every lane.
 * @throws LaneError `invalid_config` (a ConfigError) with `path:line:column: what is wrong`, a line for each problem.
 */
export function loadOperatorFile(path: string | null, localWorker: string): OperatorConfig {
  if (path === null) return complete(withoutFile, { [localWorker]: everyLane }).config;
  const source = readYaml(operatorFileSchema, readText(path));
  const tell = (problems: Problem[]) =>
    new ConfigError(problems.map(({ line, column, message }) => `${path}:${line}:${column}: ${message}`));
  if (!source.ok) throw tell(source.problems);
  const grants = hasGrants(source.written) ? source.value.grants : { [localWorker]: everyLane };
  const { config, faults } = complete(source.value, grants);
  if (faults.length > 0) throw tell(faults.map(({ at, message }) => source.problem(at, message)));
  return config;
}

const everyLane = ['main', 'lane:*'];

function hasGrants(written: unknown): boolean {
  return typeof written === 'object' && written !== null && 'grants' in written;
}

function readText(path: string): string {
  try {
    // Bytes that are no UTF-8 would change silently.
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const why = error instanceof TypeError ? 'is not UTF-8 text' : `cannot be read: ${String(error)}`;
    throw new ConfigError([`${path} ${why}`], { cause: error });
  }
}

interface Fault {
  readonly at: readonly string[];
  readonly message: string;
}

function complete(
  file: OperatorFile,
  grants: Record<string, readonly string[]>,
): { config: OperatorConfig; faults: Fault[] } {
  const lanes = Object.entries(file.lanes).map(([name, lane]) => fillLane(name, lane));
  const registry = makeRegistry([...lanes.map((lane) => lane.namespace), ...namedAgents(grants)]);
  const granted = new Map<string, readonly Namespace[]>();
  const faults = [...laneFaults(lanes), ...repositoryFaults(file.repositories)];
  for (const [worker, patterns] of Object.entries(grants)) {
    granted.set(worker, readGrant(worker, patterns, registry, faults));
  }
  faults.push(...workerNameFaults(Object.keys(grants)), ...appFaults(file), ...sharedFleet(granted));
  return { config: { repositories: file.repositories, lanes, registry, grants: granted }, faults };
}

/** The grant that names an agent namespace makes it exist: it says who its one drainer is. */
function namedAgents(grants: Record<string, readonly string[]>): Namespace[] {
  return Object.values(grants)
    .flat()
    .flatMap((pattern) => namespaceSchema.safeParse(pattern).data ?? [])
    .filter((namespace) => namespace.startsWith('agent:'));
}

/** Variables that hold, or lead to, the App's credentials. */
const ownNames = /^(?:APP_ID|PRIVATE_KEY|PRIVATE_KEY_PATH|WEBHOOK_SECRET|REDIS_URL|LANES_.*)$/;

function laneFaults(lanes: readonly Lane[]): Fault[] {
  if (lanes.length === 0) return [{ at: ['lanes'], message: 'lanes: there is no lane.' }];
  return lanes.flatMap((lane, index) => {
    const twin = lanes.slice(0, index).find((other) => sameLabel(other.label, lane.label));
    const faults: Fault[] = [];
    if (twin !== undefined) {
      const message = `lanes.${lane.name}: the label ${lane.label} is already that of ${twin.name}.`;
      faults.push({ at: ['lanes', lane.name, 'label'], message });
    }
    const secret = lane.agent.kind === 'command' && lane.agent.env.find((name) => ownNames.test(name));
    if (secret) {
      const message = `lanes.${lane.name}.agent.env: ${secret} is Lanekeeper's own and never reaches an agent.`;
      faults.push({ at: ['lanes', lane.name, 'agent', 'env'], message });
    }
    if (lane.namespace.startsWith('broker:')) {
      const message = `lanes.${lane.name}.namespace: broker namespaces are the App's own.`;
      faults.push({ at: ['lanes', lane.name, 'namespace'], message });
    }
    return faults;
  });
}

function repositoryFaults(patterns: readonly string[]): Fault[] {
  return patterns
    .filter((pattern) => !/^[\w.*-]+\/[\w.*-]+$/.test(pattern))
    .map((pattern) => ({
      at: ['repositories'],
      message: `repositories: ${JSON.stringify(pattern.slice(0, 100))} must look like owner/name, where * stands for any part.`,
    }));
}

function readGrant(
  worker: string,
  patterns: readonly string[],
  registry: Registry,
  faults: Fault[],
): Namespace[] {
  const at = ['grants', worker];
  return patterns.flatMap((pattern) => {
    if (pattern.startsWith('broker:')) {
      faults.push({ at, message: `grants.${worker}: ${pattern} is the App's own and cannot be granted.` });
      return [];
    }
    try {
      return grantedNamespaces([pattern], registry);
    } catch (error) {
      if (!isLaneError(error, 'unknown_namespace')) throw error;
      const message = `grants.${worker}: no lane has the namespace ${JSON.stringify(pattern.slice(0, 80))}.`;
      faults.push({ at, message });
      return [];
    }
  });
}

/** A worker's name becomes part of its Redis users' names, beside the App's own. */
function workerNameFaults(workers: readonly string[]): Fault[] {
  return workers
    .filter((worker) => !/^[\w.:@-]{1,100}$/.test(worker))
    .map((worker) => ({
      at: ['grants', worker],
      message: `grants: ${JSON.stringify(worker.slice(0, 100))} must be 1 to 100 letters, digits, or any of _ . : @ -.`,
    }));
}

/** A grant that is taken back removes the worker's Redis users; the App's must stay. */
function appFaults(file: OperatorFile): Fault[] {
  if (!Object.hasOwn(file.grants, appIdentity)) return [];
  const message = `grants.${appIdentity}: this name is the App's own; give the worker another one.`;
  return [{ at: ['grants', appIdentity], message }];
}

/** A fleet namespace belongs to exactly one drainer. */
function sharedFleet(granted: ReadonlyMap<string, readonly Namespace[]>): Fault[] {
  const drainers = new Map<Namespace, string>();
  const faults: Fault[] = [];
  for (const [worker, namespaces] of granted) {
    for (const namespace of namespaces.filter((one) => one.startsWith('agent:'))) {
      const other = drainers.get(namespace);
      drainers.set(namespace, worker);
      if (other === undefined) continue;
      faults.push({
        at: ['grants', worker],
        message: `grants.${worker}: ${namespace} is already granted to ${other}.`,
      });
    }
  }
  return faults;
}
