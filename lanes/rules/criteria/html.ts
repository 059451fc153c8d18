/**
 * Raw HTML blocks as far as issues use them for layout: headings, lists, tables, paragraphs, details. Turned into the same
 * tree that Markdown gives, so that there is one way to read on. Comments and everything else are not content.
 */
import type { BlockContent, ListItem, PhrasingContent, RootContent, TableCell, TableRow } from 'mdast';

export type HtmlPiece =
  | { kind: 'node'; node: RootContent }
  | { kind: 'open' }
  | { kind: 'summary'; text: string }
  | { kind: 'close' };

const TOKEN = /<!--[\s\S]*?(?:-->|$)|<(\/?)([a-z][a-z0-9]*)((?:[^<>"']|"[^"]*"|'[^']*')*)>|[^<]+|</gi;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};
const HEADING = /^h[1-6]$/;
const DROPPED = /^(?:script|style|pre|template|svg|math|select|textarea|title)$/;

type State = {
  pieces: HtmlPiece[];
  lists: { type: 'list'; ordered: boolean; children: ListItem[] }[];
  row: TableRow | null;
  rows: TableRow[] | null;
  text: PhrasingContent[];
  block: string;
  dropped: string | null;
};

/** Read one raw HTML block. Linear in its length. */
export function readHtml(source: string): HtmlPiece[] {
  const state: State = { pieces: [], lists: [], row: null, rows: null, text: [], block: '', dropped: null };
  for (const token of source.matchAll(TOKEN)) {
    const [whole, slash, name] = token;
    if (name) readTag(state, name.toLowerCase(), slash === '/');
    else if (!whole.startsWith('<!--') && !state.dropped)
      state.text.push({ type: 'text', value: decode(whole) });
  }
  endBlock(state);
  return state.pieces;
}

function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null;
    if (code !== null) return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
    return ENTITIES[String(name).toLowerCase()] ?? whole;
  });
}

function readTag(state: State, name: string, closing: boolean): void {
  if (state.dropped) {
    if (closing && name === state.dropped) state.dropped = null;
    return;
  }
  if (DROPPED.test(name)) {
    if (!closing) state.dropped = name;
  } else if (name === 'br') state.text.push({ type: 'break' });
  else if (name === 'details') {
    endBlock(state);
    state.pieces.push({ kind: closing ? 'close' : 'open' });
  } else if (name === 'summary' || name === 'p' || name === 'div' || HEADING.test(name)) {
    endBlock(state);
    state.block = closing ? '' : name;
  } else if (name === 'ul' || name === 'ol') readList(state, name === 'ol', closing);
  else if (name === 'li') readItem(state, closing);
  else if (name === 'table' || name === 'tr' || name === 'td' || name === 'th')
    readTable(state, name, closing);
  else if (name === 'b' || name === 'strong')
    state.text.push({ type: 'html', value: closing ? '</b>' : '<b>' });
}

function readList(state: State, ordered: boolean, closing: boolean): void {
  endBlock(state);
  state.block = '';
  if (!closing) state.lists.push({ type: 'list', ordered, children: [] });
  else {
    const list = state.lists.pop();
    if (list) place(state, list);
  }
}

function readItem(state: State, closing: boolean): void {
  endBlock(state);
  state.block = closing ? '' : 'li';
  if (!closing) state.lists.at(-1)?.children.push({ type: 'listItem', checked: null, children: [] });
}

function readTable(state: State, name: string, closing: boolean): void {
  if (name === 'td' || name === 'th') {
    if (closing) endCell(state);
    else {
      endBlock(state);
      state.block = 'td';
    }
    return;
  }
  endBlock(state);
  state.block = '';
  if (name === 'tr') {
    if (!closing) state.row = { type: 'tableRow', children: [] };
    else if (state.row) {
      state.rows?.push(state.row);
      state.row = null;
    }
  } else if (!closing) state.rows = [];
  else if (state.rows) {
    const table: RootContent = { type: 'table', children: state.rows };
    state.rows = null;
    state.pieces.push({ kind: 'node', node: table });
  }
}

function endCell(state: State): void {
  const cell: TableCell = { type: 'tableCell', children: state.text };
  state.row?.children.push(cell);
  state.text = [];
  state.block = '';
}

/** Put a finished block where it belongs: into the open list item, or at the top. */
function place(state: State, node: BlockContent): void {
  const item = state.lists.at(-1)?.children.at(-1);
  if (item) item.children.push(node);
  else state.pieces.push({ kind: 'node', node });
}

/** Text outside a known block is dropped: GitHub shows it, but nobody meant it as structure. */
function endBlock(state: State): void {
  const { text, block } = state;
  const filled = text.some((node) => node.type === 'text' && node.value.trim());
  if (block === 'td' && state.row) {
    if (filled) endCell(state);
    return;
  }
  state.text = [];
  if (!filled) return;
  if (block === 'summary') {
    const shown = text.map((node) => (node.type === 'text' ? node.value : ' ')).join('');
    state.pieces.push({ kind: 'summary', text: shown });
  } else if (HEADING.test(block)) {
    const depth = Number(block[1]) as 1 | 2 | 3 | 4 | 5 | 6;
    place(state, { type: 'heading', depth, children: text } as unknown as BlockContent);
  } else if (block !== '') place(state, { type: 'paragraph', children: text });
}
