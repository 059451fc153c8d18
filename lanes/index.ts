/** What the engine shows to the shell: explicit, and the only door into lanes/. */
export { isLaneError, LaneError, type LaneErrorCode } from './errors.ts';
export {
  grantedNamespaces,
  makeRegistry,
  type Namespace,
  type Registry,
} from './namespaces.ts';
export { namespaceSchema } from './records/common.ts';
export {
  type Lane,
  type OperatorFile,
  operatorFileSchema,
  type RepositoryFile,
  repositoryFileSchema,
} from './records/config.ts';
export type { Delivery } from './records/issues.ts';
export { type EffectiveLane, effectiveLane, fillLane, sameLabel } from './rules/lanes.ts';
export { createEngine, type EngineOptions } from './engine.ts';
export type { Kept } from './queue/hold.ts';
export type { Hold, ServeOptions, Serving } from './queue/serve.ts';
export { type Credential, checkRedis, openRedis } from './store/connect.ts';
export { type EmbeddedOptions, type EmbeddedRedis, startEmbeddedRedis } from './store/embedded.ts';
export type { Claim } from './store/tasks.ts';
export type { Engine, Repaired, TaskVerbs } from './verbs.ts';
