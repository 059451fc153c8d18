/** Delivers effects without a task: reactions, short comments, and the reopening of what must not be closed. */
import type { LooseEffect } from '../../lanes/index.ts';
import type { Pace } from './pace.ts';
import type { BrokerDeps } from './port.ts';
import type { Poster } from './post.ts';

/** A hidden mark by which a short comment of ours is found again. Authorship is asked of GitHub, not of the text. */
function markOf(deps: BrokerDeps, key: string): string {
  return `<!-- lanekeeper:answer ${deps.desk.hash(key).slice(0, 32)} -->`;
}

export interface LooseDelivery {
  deliver(effect: LooseEffect): Promise<void>;
}

export function makeLooseDelivery(deps: BrokerDeps, poster: Poster, pace: Pace): LooseDelivery {
  const { github } = deps.desk;

  const comment = (effect: Extract<LooseEffect, { body: string }>): Promise<number> => {
    const mark = markOf(deps, effect.key);
    return poster.post({
      key: `loose:${effect.key}`,
      issue: effect.issue,
      body: `${effect.body}\n\n${mark}`,
      isSame: (body) => body.trimEnd().endsWith(mark),
    });
  };

  const reopen = async (effect: Extract<LooseEffect, { kind: 'reopen' }>): Promise<void> => {
    const already = (await poster.posted(`loose:${effect.key}`)) !== null;
    // The comment comes last, so that its being there means that the issue was reopened.
    if (already) return;
    const look = await github.issue(effect.issue);
    if (look.kind === 'gone') return;
    if (!look.issue.open) {
      await pace.turn(effect.issue.installation);
      await github.reopen(look.issue.ref);
    }
    await comment(effect);
  };

  return {
    async deliver(effect) {
      if (effect.kind === 'reopen') return reopen(effect);
      if (effect.kind === 'comment') {
        await comment(effect);
        return;
      }
      await pace.turn(effect.issue.installation);
      await github.react(effect.issue, effect.content, effect.comment);
    },
  };
}
