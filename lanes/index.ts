/** The engine's public face: what app and workers may import of it, beside errors, namespaces and records. */
export { createEngine, type EngineOptions } from './engine.ts';
export type { Kept } from './queue/hold.ts';
export type { Hold, ServeOptions, Serving } from './queue/serve.ts';
export { type Credential, checkRedis, openRedis } from './store/connect.ts';
export { type EmbeddedOptions, type EmbeddedRedis, startEmbeddedRedis } from './store/embedded.ts';
export type { Claim } from './store/tasks.ts';
export type { Engine, Repaired, TaskVerbs } from './verbs.ts';
