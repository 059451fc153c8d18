/**
 * Who may decide. Triage permission or more is asked at that moment, of `user.permissions.triage`: the word in
 * `permission` maps triage to read, strangers on public repositories get `read` too, and `author_association` misreports
 * private members.
 */
import { z } from 'zod';
import type { Api, RepositoryRef } from './api.ts';
import { failureOf } from './failure.ts';

const permissionSchema = z.object({
  user: z.object({ permissions: z.object({ triage: z.boolean().catch(false) }) }),
});

export interface PeopleCalls {
  /** Whether this person has triage permission or more, now. Nobody whom GitHub does not know has. */
  permitted(ref: RepositoryRef, login: string): Promise<boolean>;
}

export function makePeopleCalls(api: Api): PeopleCalls {
  return {
    async permitted(ref, login) {
      const route = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';
      try {
        const reply = await api.inRepository(ref, route, { username: login });
        const parsed = permissionSchema.safeParse(reply.data);
        return parsed.success && parsed.data.user.permissions.triage;
      } catch (error) {
        if (failureOf(error, 0).kind === 'gone') return false;
        throw error;
      }
    },
  };
}
