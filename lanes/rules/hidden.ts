/**
 * Text that a person does not see and an agent would read: HTML comments, tag characters, invisible and direction-changing
 * characters. Stripped from whatever the agent is given, and said so.
 */

export type HiddenKind =
  | 'html_comment'
  | 'tag_characters'
  | 'zero_width'
  | 'bidi_control'
  | 'nul'
  | 'lone_surrogate'
  | 'control';
export type Stripped = { text: string; stripped: HiddenKind[] };

const OPEN = /(?:<|&lt;?|&#0*60;?|&#x0*3c;?)!--/gi;
const PLAIN_CLOSE = /--!?>/g;
const ANY_CLOSE = /--!?(?:>|&gt;?|&#0*62;?|&#x0*3e;?)/gi;
const ZWNJ = 0x200c;
const ZWJ = 0x200d;
const TEXT_STYLE = 0xfe0e;
const EMOJI_STYLE = 0xfe0f;
const STYLE = /[\ufe0e\ufe0f]/;

/**
 * Scripts in which ZWJ and ZWNJ are spelling: Arabic (Persian, Urdu), Syriac, N'Ko, Mongolian, the Indic scripts and Khmer.
 * Without them words change their look or their sense (Unicode 15, 23.2; UAX #31, 2.3).
 */
const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const EMOJI = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|[\u{1f1e6}-\u{1f1ff}])$/u;
const PICTURE = /\p{Extended_Pictographic}/u;

/** Strip hidden text. Linear, and idempotent: stripping what was stripped changes nothing. */
export function stripHidden(text: string): Stripped {
  const kinds = new Set<HiddenKind>();
  // Characters first, since they could be hidden inside the marks of a comment; and again, since a style selector may have
  // stood behind one. The second time can form no new mark: what is cut then has a space or nothing before it.
  const visible = stripCharacters(stripComments(stripCharacters(text, kinds), kinds), kinds);
  return { text: visible, stripped: [...kinds] };
}

function stripCharacters(text: string, kinds: Set<HiddenKind>): string {
  const points = Array.from(text);
  const kept: string[] = [];
  points.forEach((point, index) => {
    const code = point.codePointAt(0) ?? 0;
    const kind = kindOf(code);
    if (!kind || isSpelling(code, kept.at(-1), points[index + 1])) kept.push(point);
    else kinds.add(kind);
  });
  return kept.join('');
}

/** A joiner between emoji or between letters of a joining script, and the one selector after a character, are spelling. */
function isSpelling(code: number, before: string | undefined, after: string | undefined): boolean {
  if (code === TEXT_STYLE || code === EMOJI_STYLE)
    return before !== undefined && !STYLE.test(before) && !/\s/.test(before);
  if ((code !== ZWJ && code !== ZWNJ) || before === undefined || after === undefined) return false;
  if (kindOf(after.codePointAt(0) ?? 0) !== null) return false;
  if (code === ZWJ && EMOJI.test(before) && PICTURE.test(after)) return true;
  return JOINING.test(before) && JOINING.test(after);
}

/** First and last code points of what is not seen. */
const RANGES: readonly (readonly [number, number, HiddenKind])[] = [
  [0x0000, 0x0000, 'nul'],
  [0x0001, 0x0008, 'control'],
  [0x000b, 0x000c, 'control'],
  [0x000e, 0x001f, 'control'],
  [0x007f, 0x009f, 'control'],
  [0x00ad, 0x00ad, 'zero_width'],
  [0x034f, 0x034f, 'zero_width'],
  [0x061c, 0x061c, 'bidi_control'],
  [0x115f, 0x1160, 'zero_width'],
  [0x17b4, 0x17b5, 'zero_width'],
  [0x180b, 0x180f, 'zero_width'],
  [0x200b, 0x200d, 'zero_width'],
  [0x200e, 0x200f, 'bidi_control'],
  [0x2028, 0x2029, 'control'],
  [0x202a, 0x202e, 'bidi_control'],
  [0x2060, 0x2064, 'zero_width'],
  [0x2065, 0x206f, 'bidi_control'],
  [0x3164, 0x3164, 'zero_width'],
  [0xd800, 0xdfff, 'lone_surrogate'],
  [0xfe00, 0xfe0f, 'zero_width'],
  [0xfeff, 0xfeff, 'zero_width'],
  [0xffa0, 0xffa0, 'zero_width'],
  [0xfff0, 0xfffb, 'zero_width'],
  [0xe0000, 0xe0fff, 'tag_characters'],
];

function kindOf(code: number): HiddenKind | null {
  if (code >= 0x20 && code < 0x7f) return null;
  return RANGES.find(([first, last]) => code >= first && code <= last)?.[2] ?? null;
}

/**
 * Cut out comments as HTML ends them: at the first closing mark, or never. One written plainly is not ended by entities, since
 * a page would not end it there either. Where two words would grow together a space stays, so that no new mark can form.
 */
function stripComments(text: string, kinds: Set<HiddenKind>): string {
  const kept: string[] = [];
  let last = ' ';
  const keep = (piece: string) => {
    kept.push(piece);
    last = piece.at(-1) ?? last;
  };
  let at = 0;
  for (;;) {
    OPEN.lastIndex = at;
    const open = OPEN.exec(text);
    keep(text.slice(at, open?.index));
    if (!open) return kept.join('');
    kinds.add('html_comment');
    const close = open[0].startsWith('<') ? PLAIN_CLOSE : ANY_CLOSE;
    // HTML takes "<!-->" for a whole comment: the marks may share their dashes.
    close.lastIndex = open.index + open[0].length - 2;
    const end = close.exec(text);
    if (!end) return kept.join('');
    at = end.index + end[0].length;
    if (/\S/.test(last) && /^\S/.test(text.slice(at, at + 1))) keep(' ');
  }
}
