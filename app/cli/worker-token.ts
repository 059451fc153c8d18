/** `lanekeeper worker-token`: the credentials of boxes and of workers elsewhere. */
import { Command } from 'commander';
import { LaneError } from '../../lanes/index.ts';
import { loadOperatorFile } from '../config/operator-file.ts';
import { readLocalConfig, readOperatorPath } from '../config.ts';
import { addToken, readTokens, revokeToken, type TokenRecord } from '../fleet/token-file.ts';
import { refusing } from './run.ts';

const help = `
A token is printed once, to stdout, and kept as a hash. It says who comes; what that worker may do is under \`grants\` in
lanekeeper.yml. Changes hold at once, while \`lanekeeper start\` runs.
Exit code: 0 done, 1 refused or not found, 2 bad usage.`;

interface Options {
  readonly json?: boolean;
}

/** The command, for the program to add. */
export function workerTokenCommand(): Command {
  const command = new Command('worker-token')
    .description('add, list and revoke the tokens of workers elsewhere')
    .addHelpText('after', help);
  const sub = (usage: string, what: string) =>
    command.command(usage).description(what).option('--json', 'print JSON');
  sub('add <worker>', 'make a token for a worker, and print it this once').action(
    (worker: string, { json }: Options) => refusing(command, () => add(worker, json ?? false)),
  );
  sub('list', 'list the tokens, never what they are').action(({ json }: Options) =>
    refusing(command, async () => list(json ?? false)),
  );
  sub('revoke <id>', 'let nobody in with this token any more').action((id: string, { json }: Options) =>
    refusing(command, () => revoke(id, json ?? false)),
  );
  return command;
}

async function add(worker: string, json: boolean): Promise<void> {
  const { dataDir, workerName } = readLocalConfig();
  const operatorFile = readOperatorPath();
  const grants = loadOperatorFile(operatorFile, workerName).grants.get(worker) ?? [];
  if (grants.length === 0) {
    const where = operatorFile ?? 'any lanekeeper.yml';
    throw new LaneError('namespace_not_granted', `${worker} has no grants in ${where}`);
  }
  const { record, token } = await addToken(dataDir, worker, Date.now());
  process.stdout.write(json ? `${JSON.stringify({ ...shown(record), token }, null, 2)}\n` : `${token}\n`);
  process.stderr.write(`Token ${record.id} of ${worker}, for ${grants.join(', ')}. It is not shown again.\n`);
}

function list(json: boolean): void {
  const tokens = readTokens(readLocalConfig().dataDir).map(shown);
  const lines = tokens.map(({ id, worker, createdAt, revokedAt }) => {
    const state = revokedAt === null ? 'good' : `revoked ${revokedAt}`;
    return `${id}  ${worker}  made ${createdAt}  ${state}\n`;
  });
  process.stdout.write(json ? `${JSON.stringify(tokens, null, 2)}\n` : lines.join(''));
}

async function revoke(id: string, json: boolean): Promise<void> {
  const record = await revokeToken(readLocalConfig().dataDir, id, Date.now());
  if (record === null)
    throw new LaneError('not_found', `no token has the id ${JSON.stringify(id.slice(0, 80))}`);
  const text = `Token ${record.id} of ${record.worker} is revoked.`;
  process.stdout.write(`${json ? JSON.stringify(shown(record), null, 2) : text}\n`);
}

function shown({ id, worker, createdAt, revokedAt }: TokenRecord) {
  const at = (ms: number) => new Date(ms).toISOString();
  return { id, worker, createdAt: at(createdAt), revokedAt: revokedAt === undefined ? null : at(revokedAt) };
}
