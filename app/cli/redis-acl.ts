/** `lanekeeper redis-acl`: the Redis users of this installation - printed, applied, handed out - and `default` locked. */
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import {
  addressOf,
  adminUrl,
  adminUser,
  appIdentity,
  type Credentials,
  checkRedis,
  credentialsOf,
  databaseOf,
  embeddedAdminUrl,
  growKeyring,
  LaneError,
  lockDefault,
  makeSecretFile,
  newPassword,
  openRedis,
  type Provisioned,
  passwordHash,
  provision,
  type RedisUser,
  readSecretFile,
  ruleFor,
  syncKeyring,
  type UserRef,
} from '../../lanes/index.ts';
import { loadOperatorFile, type OperatorConfig } from '../config/operator-file.ts';
import { wantedUsers } from '../config/redis-users.ts';
import { type AclConfig, readAclConfig } from '../config.ts';
import { refusing } from './run.ts';

const help = `
Every namespace has a Redis user for the App, and one for each worker that is granted it. Without an option their lines
are printed as an aclfile has them, with hashes; the passwords lie in <data>/redis-users.json. It acts on the Redis of a
running \`start\` (of the same LANES_DATA_DIR), or on LANES_REDIS_URL as the superuser that it names.
Exit code: 0 done, 1 Redis does not answer or refuses, 2 bad usage.`;

interface Options {
  readonly apply?: boolean;
  readonly credentials?: string;
  readonly lockDefault?: boolean;
  readonly json?: boolean;
}

/** The command, for the program to add. */
export function redisAclCommand(): Command {
  return new Command('redis-acl')
    .description('print, apply or hand out the Redis users of this installation')
    .argument('[file]', 'where --credentials writes to; it must not be there yet')
    .option('--apply', 'make Redis have exactly these users, and remove revoked ones')
    .option('--credentials <worker>', "write a worker's LANES_CREDENTIALS file")
    .option('--lock-default', `turn the user \`default\` off, once ${adminUser} has shown that it works`)
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action((file: string | undefined, options: Options, command: Command) =>
      refusing(command, () => act(file, options, command)),
    );
}

async function act(file: string | undefined, options: Options, command: Command): Promise<void> {
  const { apply, credentials, lockDefault: lock, json } = options;
  if ([apply, credentials, lock].filter((one) => one !== undefined).length > 1)
    command.error('error: --apply, --credentials and --lock-default are given one at a time');
  if ((file !== undefined) !== (credentials !== undefined))
    command.error('error: --credentials needs a worker and a file, and nothing else takes a file');
  const config = readAclConfig();
  const operator = loadOperatorFile(config.operatorFile, config.workerName);
  const told = await tell(config, operator, options, file);
  process.stdout.write(
    json ? `${JSON.stringify(told.data, null, 2)}\n` : told.lines.map((line) => `${line}\n`).join(''),
  );
}

/** What a command has to say: data for `--json`, lines for people. */
interface Told {
  readonly data: object;
  readonly lines: readonly string[];
}

function tell(
  config: AclConfig,
  operator: OperatorConfig,
  { apply, credentials, lockDefault: lock }: Options,
  file: string | undefined,
): Promise<Told> | Told {
  if (apply) return applyUsers(config, wantedUsers(operator));
  if (lock) return lockDefaultUser(config);
  if (credentials !== undefined) return handOut(config, operator, credentials, resolve(file ?? ''));
  return aclFile(config, growKeyring(config.dataDir, wantedUsers(operator)));
}

function aclFile({ redisUrl }: AclConfig, all: readonly RedisUser[]): Told {
  const db = redisUrl === null ? 0 : databaseOf(redisUrl);
  const users = all.map(({ name, namespace, identity, password }) => {
    const rule = ['on', passwordHash(password), ...ruleFor(namespace, db)].join(' ');
    return { name, namespace, identity, rule };
  });
  return { data: { users }, lines: users.map(({ name, rule }) => `user ${name} ${rule}`) };
}

async function applyUsers({ redisUrl, dataDir }: AclConfig, wanted: readonly UserRef[]): Promise<Told> {
  const url = redisUrl ?? embeddedAdminUrl(dataDir);
  await checkRedis(url);
  const users = syncKeyring(dataDir, wanted);
  const admin = openRedis(url);
  try {
    const mode = { db: databaseOf(url), removes: () => true, onlyOurPasswords: true };
    const did = await provision(admin, users, mode);
    return { data: did, lines: linesOf(did, users.length) };
  } finally {
    admin.disconnect();
  }
}

function linesOf(did: Provisioned, count: number): string[] {
  const lines = (['made', 'changed', 'removed'] as const).flatMap((what) =>
    did[what].map((name) => `${what} ${name}`),
  );
  return lines.length > 0 ? lines : [`all ${count} users are as they should be`];
}

function handOut({ dataDir }: AclConfig, operator: OperatorConfig, worker: string, file: string): Told {
  const namespaces = worker === appIdentity ? [...operator.registry] : (operator.grants.get(worker) ?? []);
  if (namespaces.length === 0) throw new LaneError('namespace_not_granted', `${worker} is granted nothing`);
  const users = growKeyring(
    dataDir,
    namespaces.map((namespace) => ({ namespace, identity: worker })),
  );
  const credentials: Credentials = credentialsOf(users, worker);
  makeSecretFile(file, `${JSON.stringify(credentials, null, 2)}\n`);
  const next =
    'A running `start` makes the users known to Redis within 15 s; `redis-acl --apply` does at once.';
  return {
    data: { worker, file, namespaces },
    lines: [`${file} holds the credentials of ${worker} for ${namespaces.join(', ')}.`, next],
  };
}

async function lockDefaultUser({ redisUrl, dataDir }: AclConfig): Promise<Told> {
  if (redisUrl === null) {
    const lines = ['default is off already in the Redis that `start` runs.'];
    return { data: { default: 'off', admin: adminUser, file: null, saved: true }, lines };
  }
  await checkRedis(redisUrl);
  const file = join(dataDir, 'redis-admin.url');
  const url = keptAdminUrl(file, redisUrl);
  const superuser = openRedis(redisUrl);
  try {
    const saved = await lockDefault(superuser, url);
    // Without its permissions Redis would drop what it replays from its log in the name of default.
    const forever = '`user default off resetpass ~* &* +@all`, exactly so,';
    const restart = saved
      ? 'Its aclfile says so too.'
      : `It has no aclfile: when it starts again, default is on, until you put ${forever} into its configuration.`;
    const lines = [
      'default is off.',
      restart,
      `Set LANES_REDIS_URL to what ${file} holds, and start again: it logs in as ${adminUser}.`,
    ];
    return { data: { default: 'off', admin: adminUser, file, saved }, lines };
  } finally {
    superuser.disconnect();
  }
}

/** The password is on the disk before Redis hears of it. */
function keptAdminUrl(file: string, redisUrl: string): string {
  const kept = readSecretFile(file)?.trim();
  if (kept !== undefined) return adminUrl(addressOf(redisUrl), decodeURIComponent(new URL(kept).password));
  const url = adminUrl(addressOf(redisUrl), newPassword());
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  makeSecretFile(file, `${url}\n`);
  return url;
}
