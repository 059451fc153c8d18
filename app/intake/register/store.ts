/** Storing the App's credentials: whole or not at all, for our user's eyes only, on the disk before it is said. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LaneError } from '../../../lanes/index.ts';
import { type AppCredentials, credentialsFile } from '../../config/credentials.ts';

/**
 * Shows that credentials could be stored. GitHub hands out a private key once: we ask for it only when there is a place
 * for it.
 * @throws LaneError `disk`.
 */
export async function checkStorable(dataDir: string): Promise<void> {
  await onDisk(dataDir, async () => {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const probe = join(dataDir, `.probe-${randomUUID()}`);
    await writeSynced(probe, '');
    await rm(probe);
  });
}

/**
 * Stores the credentials in `<data>/app.json`, mode 0600.
 * @throws LaneError `disk`.
 */
export async function storeCredentials(dataDir: string, credentials: AppCredentials): Promise<void> {
  const file = credentialsFile(dataDir);
  const draft = `${file}.${randomUUID()}`;
  await onDisk(dataDir, async () => {
    await writeSynced(draft, `${JSON.stringify(credentials, null, 2)}\n`);
    await rename(draft, file);
    await syncFolder(dataDir);
  });
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Without it the rename itself may not outlive a power cut. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function onDisk(dataDir: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new LaneError('disk', `${dataDir}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
