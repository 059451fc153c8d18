/** What a line opens before its text: quotes and list items. */

export const TAB = 9;
export const SPACE = 32;

/** The containers that a line opens, and where its text begins (`at`). Columns count a tab to the next multiple of 4. */
export type Prefix = {
  containers: number;
  quoted: boolean;
  bullet: boolean;
  number: number;
  column: number;
  at: number;
  indent: number;
};

/** The containers that a line opens, and where its text begins. */
export function readPrefix(body: string, start: number, end: number): Prefix {
  const prefix: Prefix = {
    containers: 0,
    quoted: false,
    bullet: false,
    number: -1,
    column: 0,
    at: start,
    indent: 0,
  };
  for (;;) {
    skipBlanks(body, prefix, end);
    if (prefix.containers === 0) prefix.indent = prefix.column;
    const length = markerLength(body, prefix, end);
    if (length === 0) return prefix;
    prefix.containers += 1;
    prefix.at += length;
    prefix.column += length;
  }
}

function skipBlanks(body: string, prefix: Prefix, end: number): void {
  while (prefix.at < end) {
    const code = body.charCodeAt(prefix.at);
    if (code === SPACE) prefix.column += 1;
    else if (code === TAB) prefix.column += 4 - (prefix.column % 4);
    else return;
    prefix.at += 1;
  }
}

function isBlankAt(body: string, at: number, end: number): boolean {
  return at >= end || body.charCodeAt(at) === SPACE || body.charCodeAt(at) === TAB;
}

function markerLength(body: string, prefix: Prefix, end: number): number {
  const { at } = prefix;
  const char = at < end ? body[at] : '';
  if (char === '>') {
    prefix.quoted = true;
    return 1;
  }
  if ((char === '-' || char === '*' || char === '+') && isBlankAt(body, at + 1, end)) {
    prefix.bullet = true;
    return 1;
  }
  let digits = 0;
  while (digits < 10 && at + digits < end && /[0-9]/.test(body[at + digits] ?? '')) digits += 1;
  const after = body[at + digits];
  if (
    digits === 0 ||
    digits > 9 ||
    (after !== '.' && after !== ')') ||
    !isBlankAt(body, at + digits + 1, end)
  )
    return 0;
  prefix.number = Number(body.slice(at, at + digits));
  return digits + 1;
}
