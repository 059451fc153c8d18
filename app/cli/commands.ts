/** The commands by name. Each is loaded when it is asked for: all of them together take many times as long as any one. */
import type { Command } from 'commander';

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./start.ts')).startCommand(),
  worker: async () => (await import('./worker.ts')).workerCommand(),
  box: async () => (await import('./box.ts')).boxCommand(),
  'worker-token': async () => (await import('./worker-token.ts')).workerTokenCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  patch: async () => (await import('./patch.ts')).patchCommand(),
  pause: async () => (await import('./lane.ts')).pauseCommand(),
  'resume-lane': async () => (await import('./lane.ts')).resumeLaneCommand(),
  retry: async () => (await import('./retry.ts')).retryCommand(),
  refusals: async () => (await import('./refusals.ts')).refusalsCommand(),
  sweep: async () => (await import('./sweep.ts')).sweepCommand(),
  copies: async () => (await import('./copies.ts')).copiesCommand(),
  ledger: async () => (await import('./ledger.ts')).ledgerCommand(),
  criteria: async () => (await import('./criteria.ts')).criteriaCommand(),
  'redis-acl': async () => (await import('./redis-acl.ts')).redisAclCommand(),
  note: loadNote,
};

async function loadNote(): Promise<Command> {
  const { noteCommand } = await import('./note.ts');
  const { noteKeys } = await import('../broker/note/index.ts');
  const { readLocalConfig } = await import('../config.ts');
  return noteCommand({ loadKeys: async () => noteKeys(readLocalConfig().noteKeys) });
}

/** What a person types for each. */
export const commandNames: readonly string[] = Object.keys(commands);

/** The command that these arguments begin with; all of them where they begin with none, so that help lists everything. */
export async function commandsFor(args: readonly string[]): Promise<Command[]> {
  const [name = ''] = args;
  const asked = Object.hasOwn(commands, name) ? commands[name] : undefined;
  return await Promise.all((asked === undefined ? Object.values(commands) : [asked]).map((load) => load()));
}
