/** An archive on a test's Redis, and what stands in its files. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Archive, type ArchiveDeps, makeArchive } from '../../../app/reconcile/archive.ts';
import { intakeNamespace } from '../../../lanes/index.ts';
import { type ArchivedEvent, archivedEventSchema } from '../../../lanes/records/ledger.ts';
import { callerNamed, lane } from '../../support/tasks.ts';

export const app = callerNamed('app', [lane, intakeNamespace]);

/** Of `lane:triage` and the refusals; errors are thrown on. */
export function archiveOf(deps: Pick<ArchiveDeps, 'dataDir' | 'engine'> & Partial<ArchiveDeps>): Archive {
  const fail = (error: unknown): never => {
    throw error;
  };
  return makeArchive({ caller: () => app, namespaces: [lane], seated: () => true, onError: fail, ...deps });
}

/** The events in the files of a folder under `<data>/ledger`; lines that are none are left out, as a report does. */
export function eventsIn(dataDir: string, folder: string): ArchivedEvent[] {
  const path = join(dataDir, 'ledger', folder);
  if (!existsSync(path)) return [];
  const lines = readdirSync(path)
    .sort()
    .flatMap((name) => readFileSync(join(path, name), 'utf8').split('\n'));
  return lines.flatMap((line) => {
    try {
      return [archivedEventSchema.parse(JSON.parse(line))];
    } catch {
      return [];
    }
  });
}
