/** The composition root of `lanekeeper box --mcp`: the fleet verbs as tools of one agent namespace. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { openWorkplace } from '../lanes/index.ts';
import type { BoxConfig } from './config/elsewhere.ts';
import { networkEnvironment } from './config.ts';
import { makeFleetClient } from './fleet-client/client.ts';
import { makeMcpServer } from './fleet-client/mcp/server.ts';
import { McpSession } from './fleet-client/mcp/session.ts';
import { packageFile, packageVersion } from './package-root.ts';

const id = (): string => randomBytes(16).toString('hex');

/**
 * Serves the MCP tools over stdio until the client is gone or `stop` aborts; then what it holds is handed back. Nothing
 * but the protocol goes to stdout.
 * @throws LaneError where the App refuses the token.
 */
export async function serveMcp(config: BoxConfig, namespace: string, stop: AbortSignal): Promise<void> {
  const { dataDir, workerName } = config;
  const place = await openWorkplace({ dataDir, instance: workerName, now: Date.now, id });
  const client = makeFleetClient(config);
  const session = new McpSession({ client, place, namespace, networkEnv: networkEnvironment() });
  const template = readFileSync(packageFile('templates/prompts/mcp.md'), 'utf8');
  const server = makeMcpServer(session, { version: packageVersion(), template, id });
  const transport = new StdioServerTransport();
  const gone = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve);
    stop.addEventListener('abort', () => resolve(), { once: true });
    if (stop.aborted) resolve();
  });
  await server.connect(transport);
  await gone;
  await session.close();
  await server.close();
}
