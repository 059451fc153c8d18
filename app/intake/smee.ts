/** Webhooks through a smee channel, for a machine that GitHub cannot reach. They come to our own door, signed as ever. */
import type { Logger } from 'pino';
import { SmeeClient } from 'smee-client';

export interface SmeeOptions {
  /** The channel, `https://smee.io/…`. */
  readonly channel: string;
  /** The webhook path of our own door. */
  readonly target: string;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Listens on the channel from now on, also where it cannot be reached yet or breaks off: the label scan fills the gaps. */
export function listenToSmee({ channel, target, log }: SmeeOptions): { close(): Promise<void> } {
  const client = new SmeeClient({
    source: channel,
    target,
    queryForwarding: false,
    logger: {
      info: (text: unknown) => log.info({ channel }, `webhook channel: ${String(text)}`),
      error: (text: unknown) => log.warn({ channel }, `webhook channel: ${String(text)}`),
    },
  });
  // It has logged why by then, and goes on trying.
  client.start().catch(() => {});
  return { close: () => client.stop() };
}
