/** Criteria in tables: the column that names them, with the author's id and a status beside it. */
import type { Table, TableCell, TableRow } from 'mdast';
import { leadingRefs, stripMarks } from './marks.ts';
import { classifyName, isCommonName } from './names.ts';
import { collapse, foldName, plainText, rawText, splitLines, trimEnd } from './text.ts';
import type { ReadCriterion } from './types.ts';

const ID =
  /^(?:#|id|ids|no\.?|nr\.?|num(?:ber)?|key|ref|code|ac|ac ?#|ac id|ac no\.?|req id|us|story id|n°|№|número|numero|nummer|lp\.?|編號|编号|序号|番号|번호)$/;
const STATUS =
  /^(?:status|state|done|done\?|result|verdict|pass|passed|pass\/fail|met|met\?|ok|ok\?|check|checked|complete|completed|progress|statut|estado|stato|stan|stav|статус|готово|状态|狀態|状態|상태|☑️?|✅|✓|✔️?)$/;
const TEXT =
  /^(?:acceptance criteri(?:a|on)s?|criteri(?:a|on|um)s?|acceptance|description|desc|requirement|requirements|condition|statement|text|what|expectation|expected|expected result|expected outcome|expected behaviou?r|outcome|scenario|rule|check|item|name|title|detail|details|definition|beschreibung|kriterium|kriterien|akzeptanzkriterium|critère|description|criterio|descripción|descrição|critério|descrizione|kryterium|opis|критерий|описание|критерій|опис|标准|描述|验收标准|条件|内容|基準|기준|설명)$/;
const GIVEN = /^(?:given|gegeben|angenommen|étant donné|dado|dato|dane)\b/;
const WHEN = /^(?:when|wenn|quand|lorsque|cuando|quando)\b/;
const THEN = /^(?:then|dann|alors|entonces|então|allora)\b/;

/** Columns of a table by what they hold; -1 where there is none. */
type Columns = { text: number; id: number; status: number; steps: readonly number[]; whole: boolean };

/** A table outside any section: a column, or a row's first cell, that names acceptance criteria. */
export function tableSection(table: Table): { title: string; tier: 1 | 2 } | null {
  const header = table.children[0]?.children ?? [];
  const firsts = table.children.slice(1).map((row) => row.children[0]);
  for (const cell of [...header, ...firsts]) {
    const title = cell ? plainText(cell.children) : '';
    const name = title ? classifyName(title) : null;
    if (name?.kind === 'acceptance' && name.extra === 0 && !isCommonName(title))
      return { title: title.replace(/\s*[:：]$/, ''), tier: 1 };
  }
  return null;
}

/** The criteria of one table. `owned`: it is the content of a section, so an unnamed column may hold them. */
export function readTable(table: Table, owned: boolean): ReadCriterion[] {
  const [header, ...rows] = table.children;
  if (!header) return [];
  const keyed = rows.find((row) => isAcceptance(row.children[0]));
  const columns = findColumns(header, rows, owned);
  if (columns) return rows.flatMap((row) => readRow(row, columns, header));
  const lone = keyed ?? (isAcceptance(header.children[0]) ? header : undefined);
  return lone
    ? lone.children.slice(1).flatMap((cell) => cellTexts(cell).map((text) => criterion(text, {})))
    : [];
}

function isAcceptance(cell: TableCell | undefined): boolean {
  const title = cell ? plainText(cell.children) : '';
  const name = title ? classifyName(title) : null;
  return name?.kind === 'acceptance' && name.extra === 0;
}

function findColumns(header: TableRow, rows: readonly TableRow[], owned: boolean): Columns | null {
  const names = header.children.map((cell) => trimEnd(foldName(plainText(cell.children)), /^[\s:：*]$/));
  const accepted = header.children.findIndex(
    (cell, index) =>
      index >= 0 &&
      isAcceptance(cell) &&
      !(
        ID.test(names[index] ?? '') &&
        names.length > 1 &&
        names.some((name, at) => at !== index && TEXT.test(name))
      ),
  );
  const steps = [GIVEN, WHEN, THEN].map((pattern) => names.findIndex((name) => pattern.test(name)));
  const [given = -1, when = -1, then = -1] = steps;
  if (owned && then !== -1 && (given !== -1 || when !== -1)) {
    return {
      text: -1,
      id: names.findIndex((name) => ID.test(name)),
      status: names.findIndex((name) => STATUS.test(name)),
      steps,
      whole: true,
    };
  }
  const id = names.findIndex((name, index) => index !== accepted && ID.test(name));
  const status = names.findIndex(
    (name, index) => index !== accepted && index !== id && (STATUS.test(name) || isStatusColumn(rows, index)),
  );
  let text = accepted;
  if (text < 0 && owned)
    text = names.findIndex((name, index) => index !== id && index !== status && TEXT.test(name));
  if (text < 0 && owned) text = longestColumn(names.length, rows, [id, status]);
  if (text < 0 || (accepted === 0 && !owned && names.length === 2 && rows.length === 0)) return null;
  return {
    text,
    id,
    status,
    steps: [],
    whole: owned && (accepted < 0 || isCommonName(names[text] ?? '') || id >= 0 || names.length === 1),
  };
}

function isStatusColumn(rows: readonly TableRow[], index: number): boolean {
  const cells = rows.map((row) => textAt(row, index));
  return (
    cells.some(Boolean) &&
    cells.every((cell) => cell === '' || /^(?:\[[ xX]?\]|[^\p{L}\p{N}]{1,3})$/u.test(cell))
  );
}

function longestColumn(count: number, rows: readonly TableRow[], not: readonly number[]): number {
  let best = -1;
  let bestLength = 0;
  for (let index = 0; index < count; index += 1) {
    if (not.includes(index)) continue;
    const length = rows.reduce((sum, row) => sum + textAt(row, index).length, 0);
    if (length > bestLength) {
      best = index;
      bestLength = length;
    }
  }
  return best;
}

function readRow(row: TableRow, columns: Columns, header: TableRow): ReadCriterion[] {
  const cellId = textAt(row, columns.id);
  // A bare number is a position, and positions are no names.
  const id = /^\d+[.)]?$/.test(cellId) ? '' : cellId;
  const mark = textAt(row, columns.status);
  if (columns.steps.length > 0) {
    const text = columns.steps
      .filter((index) => index >= 0 && textAt(row, index))
      .map((index) => withStepWord(textAt(header, index), textAt(row, index)))
      .join(' ');
    return text ? [criterion(text, { ...(id && { label: id }), ...(mark && { mark }) })] : [];
  }
  const cell = row.children[columns.text];
  const texts = cell ? cellTexts(cell) : [];
  if (columns.whole) {
    const text = texts.join(' ');
    return text ? [criterion(text, { ...(id && { label: id }), ...(mark && { mark }) })] : [];
  }
  const group = id || (columns.text > 0 ? textAt(row, 0) : '');
  return texts.map((text) => criterion(text, { ...(group && { group }), ...(mark && { mark }) }));
}

function withStepWord(word: string, text: string): string {
  return foldName(text).startsWith(foldName(word)) ? text : `${word} ${text}`;
}

function textAt(row: TableRow, index: number): string {
  const cell = index >= 0 ? row.children[index] : undefined;
  return cell ? plainText(cell.children) : '';
}

/** `<br>` separates what one cell holds. */
function cellTexts(cell: TableCell): string[] {
  const lines = splitLines(cell.children).map((line) => collapse(rawText(line)));
  return lines.filter(Boolean);
}

function criterion(source: string, more: Pick<ReadCriterion, 'group' | 'label' | 'mark'>): ReadCriterion {
  const { text, malformed, mark } = stripMarks(source, true);
  const refs = leadingRefs(text);
  return {
    text,
    checked: false,
    checkbox: false,
    depth: 0,
    ...more,
    ...(malformed !== undefined && { malformed }),
    ...(mark !== undefined && !more.mark && { mark }),
    ...(refs.length > 0 && { refs }),
  };
}
