/** Characters that nobody sees: taken out of agent text before anything else looks at it. */

/**
 * C0 and C1 controls but tab and newline, soft hyphen and other format characters, zero-width space, bidi marks and
 * controls, word joiner and invisible operators, fillers, byte-order mark, interlinear
 * annotations, tag characters. Zero-width joiner and non-joiner stay: emoji and several scripts need them, and they
 * neither make nor hide a mention.
 */
const invisible =
  '\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180E\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F\\u3164\\uFEFF\\uFFA0\\uFFF9-\\uFFFB\\u{E0000}-\\u{E007F}';

const runs = new RegExp(`[${invisible}]+`, 'gu');
const loneSurrogates = /\p{Surrogate}/gu;

/** What we put after a character to take away its power on GitHub. People do not see it, and copying keeps it. */
export const breaker = '\u200B';
/** The characters that a breaker may follow. Only there it survives, which makes `neutralise` idempotent. */
const breakable = '@<&#/\\]-';

/** Line endings become `\n`, lone surrogates the replacement character, invisible characters go. Linear. */
export function stripControls(text: string): string {
  return normalise(text).replace(runs, '');
}

/** Like `stripControls`, but a run of invisible characters after a breakable one becomes one breaker. */
export function stripControlsButBreakers(text: string): string {
  const source = normalise(text);
  return source.replace(runs, (run, at: number) => {
    const before = at === 0 ? '' : source.charAt(at - 1);
    return before !== '' && breakable.includes(before) && run.includes(breaker) ? breaker : '';
  });
}

function normalise(text: string): string {
  return text.replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n').replace(loneSurrogates, '\uFFFD');
}
