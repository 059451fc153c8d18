/**
 * The repository's file `.github/lanes.yml`, from the default branch only. It is asked for at most once a minute for a
 * repository and with its ETag, so that an issue usually costs nothing. A broken file leaves the last good one in force.
 */
import { z } from 'zod';
import type { RepositoryFile } from '../../lanes/index.ts';
import type { Api, RepositoryRef } from './api.ts';
import { failureOf, statusOf } from './failure.ts';

export interface FileProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type ParsedFile =
  | { readonly ok: true; readonly file: RepositoryFile }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

export interface FileLook {
  /** The file in force. `null`: there is none, and nothing is narrowed. `unknown`: broken, and no good one was seen. */
  readonly file: RepositoryFile | null | 'unknown';
  /** What is wrong with the newest version, where it is broken. `version` tells one broken version from the next. */
  readonly broken?: { readonly version: string; readonly problems: readonly FileProblem[] };
}

interface Kept extends FileLook {
  readonly askedAtMs: number;
  readonly etag?: string;
}

const contentSchema = z.object({ content: z.string(), encoding: z.literal('base64'), sha: z.string() });
const maxAgeMs = 60_000;
const maxKept = 5_000;

export interface RepositoryFileCalls {
  repositoryFile(ref: RepositoryRef): Promise<FileLook>;
}

export interface RepositoryFileDeps {
  readonly api: Api;
  readonly parse: (text: string) => ParsedFile;
  readonly now: () => number;
}

export function makeRepositoryFileCalls({ api, parse, now }: RepositoryFileDeps): RepositoryFileCalls {
  const kept = new Map<number, Kept>();

  const read = (data: unknown, last: Kept | undefined): FileLook => {
    const lastGood = last?.file ?? 'unknown';
    const content = contentSchema.safeParse(data);
    if (!content.success) {
      const message = 'This is not a file of at most 1 MB.';
      return { file: lastGood, broken: { version: 'no-file', problems: [{ line: 1, column: 1, message }] } };
    }
    const parsed = parse(Buffer.from(content.data.content, 'base64').toString('utf8'));
    if (parsed.ok) return { file: parsed.file };
    return { file: lastGood, broken: { version: content.data.sha, problems: parsed.problems } };
  };

  const ask = async (ref: RepositoryRef, last: Kept | undefined): Promise<Kept> => {
    const askedAtMs = now();
    try {
      const reply = await api.inRepository(ref, 'GET /repos/{owner}/{repo}/contents/.github/lanes.yml', {
        ...(last?.etag === undefined ? {} : { headers: { 'if-none-match': last.etag } }),
      });
      const etag = reply.headers.etag;
      return { ...read(reply.data, last), askedAtMs, ...(etag === undefined ? {} : { etag: String(etag) }) };
    } catch (error) {
      if (statusOf(error) === 304 && last) return { ...last, askedAtMs };
      if (failureOf(error, now()).kind === 'gone') return { file: null, askedAtMs };
      if (last) return last;
      throw error;
    }
  };

  return {
    async repositoryFile(ref) {
      const last = kept.get(ref.repositoryId);
      if (last && now() - last.askedAtMs < maxAgeMs) return last;
      const next = await ask(ref, last);
      if (!kept.has(ref.repositoryId) && kept.size >= maxKept) kept.clear();
      kept.set(ref.repositoryId, next);
      return next;
    },
  };
}
