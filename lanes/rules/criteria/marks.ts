/** What stands before an item's text: broken checkboxes, bullet characters, status emoji, the author's label, issues. */

const BOX_INNER = 'xXvVoOyYnN✓✔✗✘✅❌☑⏳~\\-/><?!*+.·•_|\\\\=#–—🚧⬜';
/** A bracket pair with at most one character that is no word: "[ ]", "[]", "[~]", "[x ]", "［ ］". */
const SQUARE_BOX = new RegExp(
  `^(?:[[［【]\\s*(?:[${BOX_INNER}]\\ufe0f?)?\\s*[\\]］】]|\\(\\s*(?:[xX✓✔])?\\s*\\)(?=\\s|\\S))`,
  'u',
);
const BALLOT = /^(?:[☐☑☒🗹🗸🗷▢□■◻◼❏❑❒▣]\ufe0f?)/u;
const BULLET_BOX = /^(~{0,2})([-*+•])(\s*)(?=(?:[[［]\s*(?:[xX~\-/vV✓✔*]\ufe0f?)?\s*[\]］]))/u;
const BULLET = /^(?:[•‣◦▪▫●○∙·・･◎⁃➢➤►▸▶→➔➡⇒»※◆◇★☆✦✓✔–—―]\ufe0f?)\s*(?=\S)/u;
const STATUS =
  /^(?:(?:✅|❌|⏳|⌛|⬜|🔲|🔳|☑️|✔️|✖️|❎|🟢|🟡|🔴|🟠|🟩|🟥|🟨|🟧|🚧|⚠️|⭕|🔄|🚫|⛔|🆗|🔜|⏸️|✓|✔|✗|✘|⚪|⚫|🔵)\ufe0f?\s*)+/u;
const KNOWN_LABEL =
  /^[[(（【]?\s*((?:ac|acc|a\.c\.|acceptance criteri(?:on|a)|criteri(?:on|a)|req|us|fr|nfr|tc|uat)[\s._#-]*\d+(?:[.-]\d+)*[a-z]?)(?=\s*[\])）】:：.,–—-]|\s|$)/iu;
/** "P0:" is a priority. */
const OTHER_LABEL =
  /^[[(（【]?\s*(?!P\d\b)([\p{Lu}]{1,6}[-_. ]?\d+(?:[.-]\d+)*[a-z]?)\s*(?:[\])）】]\s*[:：–—-]?|[:：]|\)|\.(?=\s)|\s[–—-](?=\s))/u;
const SCENARIO =
  /^(?:scenario|szenario|scénario|escenario|cenário|scenariusz|scenár|сценарий|сценарій|场景|場景|シナリオ|시나리오|example|rule|test case|use case)\b/iu;
const REF =
  /^(?:(?:([\w.-]+\/[\w.-]+))?#(\d+)|https?:\/\/[^\s/]+\/([\w.-]+\/[\w.-]+)\/(?:issues|pull)\/(\d+)(?:[/?#]\S*)?)(?=[\s,;:.)]|$)/;
const MAX_ROUNDS = 3;

export type Stripped = { text: string; malformed?: string; mark?: string };

/** The broken box at the start of a text, with its bullet: "-[ ]", "[~]", "☐"; null if there is none. */
export function brokenBox(text: string): { marker: string; length: number } | null {
  const bullet = BULLET_BOX.exec(text);
  const at = bullet?.[0].length ?? 0;
  const box = SQUARE_BOX.exec(text.slice(at)) ?? (at === 0 ? BALLOT.exec(text) : null);
  if (!box) return null;
  const marker = text.slice(0, at) + box[0];
  return { marker, length: marker.length };
}

/** Cut broken markers and status emoji off the front. `bullets`: also typed bullet characters. */
export function stripMarks(text: string, bullets: boolean): Stripped {
  let rest = text;
  let malformed: string | undefined;
  let mark: string | undefined;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const box = brokenBox(rest);
    const status = box ? null : STATUS.exec(rest);
    const bullet = box || status || !bullets ? null : BULLET.exec(rest);
    const length = box?.length ?? status?.[0].length ?? bullet?.[0].length ?? 0;
    if (length === 0) break;
    const after = rest.slice(length).replace(/^[\s\p{Cf}]+/u, '');
    if (!after) break;
    if (status) mark ??= status[0].trim();
    else malformed ??= (box?.marker ?? bullet?.[0] ?? '').trim();
    rest = after;
  }
  return { text: rest, ...(malformed !== undefined && { malformed }), ...(mark !== undefined && { mark }) };
}

/** The author's own label at the start of a text, such as "AC-1". */
export function authorLabel(text: string): string | null {
  return (KNOWN_LABEL.exec(text) ?? OTHER_LABEL.exec(text))?.[1]?.trim() ?? null;
}

/** The text without the author's label, for comparing wording only. */
export function withoutLabel(text: string): string {
  const found = KNOWN_LABEL.exec(text) ?? OTHER_LABEL.exec(text);
  if (!found) return text;
  const bare = text.slice(found[0].length).replace(/^[\s\])）】:：.,–—-]+/u, '');
  return bare || text;
}

export function isScenarioTitle(text: string): boolean {
  return SCENARIO.test(text.replace(/^[^\p{L}]+/u, ''));
}

/** "AC-1: …", "Scenario 2: …", "Criterion 3": titles that name a criterion rather than a section. */
export function isNumberedTitle(text: string): boolean {
  const title = text.replace(/^[^\p{L}\p{N}[(]+/u, '');
  return authorLabel(title) !== null || isScenarioTitle(title);
}

/** Issues that a text starts with, as `#n` or `owner/repository#n`. */
export function leadingRefs(text: string): string[] {
  const found = REF.exec(text);
  if (!found) return [];
  const repository = found[1] ?? found[3];
  const number = found[2] ?? found[4] ?? '';
  return [`${repository ?? ''}#${number}`];
}
