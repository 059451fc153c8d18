/** Code fences that were opened and not closed would swallow what follows them. */

const fenceLine = /^([ \t]*)(`{3,}|~{3,})(.*)$/;

interface Fence {
  readonly indent: string;
  readonly marks: string;
}

/** Adds the closing line that is missing, if one is. A text without an open fence comes back as it is. */
export function closeFences(text: string): string {
  let open: Fence | undefined;
  for (const line of text.split('\n')) open = afterLine(open, line);
  if (open === undefined) return text;
  return `${text}${text.endsWith('\n') ? '' : '\n'}${open.indent}${open.marks}`;
}

function afterLine(open: Fence | undefined, line: string): Fence | undefined {
  const [, indent, marks, rest] = fenceLine.exec(line) ?? [];
  if (indent === undefined || marks === undefined || rest === undefined) return open;
  if (open === undefined) {
    // An info string with a backtick makes a line of backticks inline code, not a fence.
    return marks.startsWith('`') && rest.includes('`') ? undefined : { indent, marks };
  }
  const closes = marks[0] === open.marks[0] && marks.length >= open.marks.length && rest.trim() === '';
  return closes ? undefined : open;
}
