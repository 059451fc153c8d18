/**
 * The Probot function: event -> hook. A payload that does not hold what its event needs is written off with a warning,
 * never a crash. Hooks throw what should be tried again; the consumer of deliveries sees to that.
 */
import type { Probot } from 'probot';
import type { z } from 'zod';
import { onClosed } from './hooks/closed.ts';
import { onComment } from './hooks/comment.ts';
import type { Desk } from './hooks/desk/port.ts';
import type { Cause } from './hooks/desk/records.ts';
import { onEdited } from './hooks/edited.ts';
import { onDeleted, onTransferred } from './hooks/gone.ts';
import { type LabelWishes, onInstalled, onRemoved } from './hooks/installation.ts';
import { onLabeled, onOpened } from './hooks/labeled.ts';
import { commentPayloadSchema, installationPayloadSchema, issuesPayloadSchema } from './hooks/payload.ts';
import { onReopened } from './hooks/reopened.ts';
import { onUnlabeled } from './hooks/unlabeled.ts';

export interface AppDeps {
  readonly desk: Desk;
  readonly labels: LabelWishes;
  /** Called after each hook: effects may wait for the broker. */
  readonly changed: () => void;
}

interface Delivered {
  readonly id: string;
  readonly name: string;
  readonly payload: unknown;
}

/** Makes the function that Probot loads. */
export function makeApp({ desk, labels, changed }: AppDeps): (app: Pick<Probot, 'on'>) => void {
  const handle =
    <T>(event: string, schema: z.ZodType<T>, hook: (payload: T, cause: Cause) => Promise<void>) =>
    async ({ id, payload }: Delivered): Promise<void> => {
      const parsed = schema.safeParse(payload);
      if (!parsed.success) {
        const paths = [...new Set(parsed.error.issues.map((issue) => issue.path.join('.')))];
        desk.log('warn', 'a delivery was ignored: invalid_payload', { guid: id, event, paths });
        return;
      }
      await hook(parsed.data, { source: id, event });
      changed();
    };

  return (app) => {
    const issues = {
      'issues.labeled': onLabeled,
      'issues.opened': onOpened,
      'issues.unlabeled': onUnlabeled,
      'issues.edited': onEdited,
      'issues.closed': onClosed,
      'issues.reopened': onReopened,
      'issues.deleted': onDeleted,
      'issues.transferred': onTransferred,
    } as const;
    for (const [event, hook] of Object.entries(issues)) {
      const handler = handle(event, issuesPayloadSchema, (payload, cause) => {
        desk.github.learn(payload.repository.id, payload.repository.full_name);
        return hook(desk, payload, cause);
      });
      app.on(event as keyof typeof issues, handler);
    }
    app.on(
      'issue_comment.created',
      handle('issue_comment.created', commentPayloadSchema, (payload, cause) =>
        onComment(desk, payload, cause),
      ),
    );
    const installed = handle('installation', installationPayloadSchema, (payload) =>
      onInstalled(labels, payload),
    );
    app.on(['installation.created', 'installation.unsuspend', 'installation_repositories.added'], installed);
    const removed = handle('installation', installationPayloadSchema, (payload, cause) =>
      onRemoved(desk, payload, cause),
    );
    app.on(['installation.deleted', 'installation.suspend', 'installation_repositories.removed'], removed);
  };
}
