/** A server's address: taking it, naming it, giving it up. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from './config/problems.ts';

/** @throws LaneError `invalid_config` (a ConfigError) where the address cannot be listened on. */
export async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`HOST and PORT cannot be used: ${why}.`], { cause: error });
  }
}

/** The address for a program on this machine. A wildcard address is none. */
export function localUrl(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  const name = address === '0.0.0.0' || address === '::' ? 'localhost' : address;
  return `http://${family === 'IPv6' && name === address ? `[${name}]` : name}:${port}`;
}

/** Takes no more requests; those in hand are answered. */
export async function shut(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  await closed;
}
