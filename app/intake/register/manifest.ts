/** The manifest that registers the App: `app.yml`, with the addresses of this installation. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { packageFile } from '../../package-root.ts';
import { webhookPath } from '../door.ts';

const appFileSchema = z.strictObject({
  name: z.string().max(34),
  description: z.string(),
  public: z.boolean(),
  default_permissions: z.record(z.string(), z.enum(['read', 'write'])),
  default_events: z.array(z.string()),
});
export type AppFile = z.infer<typeof appFileSchema>;

/** Reads our own `app.yml`, which lies at the root of the package. */
export function readAppFile(): AppFile {
  return appFileSchema.parse(parse(readFileSync(packageFile('app.yml'), 'utf8')));
}

export interface Addresses {
  /** Where people and GitHub reach us, without a slash at the end. */
  readonly base: string;
  /** A smee channel that webhooks come through instead. */
  readonly webhookProxyUrl: string | null;
}

/**
 * The manifest as GitHub takes it. The hook's address must be said whole: the App's own address is not the webhook
 * path. A smee channel is one address of its own, and passes on to our path.
 */
export function makeManifest(file: AppFile, { base, webhookProxyUrl }: Addresses) {
  return {
    ...file,
    url: base,
    hook_attributes: { url: webhookProxyUrl ?? `${base}${webhookPath}`, active: true },
    redirect_url: `${base}/setup/callback`,
  };
}
