/** The labels of our lanes in a repository: created where they are missing, never changed. */
import { z } from 'zod';
import { type Api, hasNext, type RepositoryRef } from './api.ts';
import { statusOf, unusable } from './failure.ts';

const labelsSchema = z.array(z.object({ name: z.string() }));
const maxPages = 50;
const colour = '5319e7';

export interface LabelCalls {
  /** The names of the labels that the repository does not have yet. GitHub compares them without case. */
  missingLabels(ref: RepositoryRef, wanted: readonly string[]): Promise<string[]>;
  /** Creates a label; one that is already there is fine. */
  createLabel(ref: RepositoryRef, name: string, description: string): Promise<void>;
}

export function makeLabelCalls(api: Api): LabelCalls {
  return {
    async missingLabels(ref, wanted) {
      const there = new Set<string>();
      for (let page = 1; page <= maxPages; page += 1) {
        const reply = await api.inRepository(ref, 'GET /repos/{owner}/{repo}/labels', {
          per_page: 100,
          page,
        });
        const parsed = labelsSchema.safeParse(reply.data);
        if (!parsed.success) throw unusable('labels', parsed.error);
        for (const label of parsed.data) there.add(label.name.toLowerCase());
        if (!hasNext(reply)) break;
      }
      return wanted.filter((name) => !there.has(name.toLowerCase()));
    },
    async createLabel(ref, name, description) {
      try {
        await api.inRepository(ref, 'POST /repos/{owner}/{repo}/labels', {
          name,
          color: colour,
          description,
        });
      } catch (error) {
        if (statusOf(error) !== 422) throw error;
      }
    },
  };
}
