/**
 * The values of a label that is the name of a column: in CSV, in a table of Markdown or of a terminal,
 * in SQL's VALUES (…).
 */
import type { Stretch } from './builtin-pattern.ts';
import { type FieldValue, MAX_VALUE } from './field-value.ts';

/** Values of one column of a table or a statement that are read: as many as are reported. */
const MAX_COLUMN = 200;
/** Columns that are read to their end: each reads all rows again. */
const MAX_WHOLE = 24;
/** Values read below other lines, and lines; cells without a value must not use up the former. */
const MAX_ROWS = 4;
const MAX_LINES = 20;
const MAX_LINE = 600;
const MAX_CELLS = 64;
const NO_VALUE =
  /^(?:.{0,3}|null|none|unknown|undefined|redacted|\[redacted.{0,120}|[-*x.•?0]{0,64})$/i;

/** Values in the column below a label (CSV, TSV, Markdown) or at its position in SQL's VALUES. */
export function columnValues(text: string, labelEnd: number): FieldValue[] {
  const after = text.slice(labelEnd, labelEnd + MAX_LINE);
  // The full stop of an abbreviation, in a cell: `D.O.B. |`.
  if (!/^(?:\.(?=["']?[ \t]{0,40}[,;|│\t]))?["'`)\]]?[ \t]{0,40}[,;|│\t\n\r)]/.test(after))
    return [];
  // Searched in slices: a text may be one long line of labels.
  const from = Math.max(0, labelEnd - MAX_LINE - 1);
  const feed = text.slice(from, labelEnd).lastIndexOf('\n');
  if (feed < 0 && from > 0) return [];
  const lineStart = from + feed + 1;
  const length = after.indexOf('\n');
  const lineEnd = length < 0 ? -1 : labelEnd + length;
  return [...sqlValues(text, lineStart, labelEnd), ...rows(text, lineStart, labelEnd, lineEnd)];
}

function sqlValues(text: string, lineStart: number, labelEnd: number): FieldValue[] {
  const earliest = Math.max(lineStart, labelEnd - 400);
  const bracket = text.slice(earliest, labelEnd).lastIndexOf('(');
  if (bracket < 0) return [];
  const open = earliest + bracket;
  const index = count(text.slice(open, labelEnd), ',');
  const rest = text.slice(labelEnd, labelEnd + MAX_LINE);
  const values = /^[^()]{0,400}\)\s{0,8}(?:values?|select|=)\s{0,8}\(/i.exec(rest);
  if (!values) return [];
  const found: FieldValue[] = [];
  const [most, lines] = index < MAX_WHOLE ? [MAX_COLUMN, Infinity] : [MAX_ROWS, MAX_LINES];
  let from = labelEnd + values[0].length;
  for (let line = 0; line < lines && found.length < most; line++) {
    const tuple = cells(text, from, from + MAX_LINE, ',');
    const cell = tuple[index];
    if (cell && holdsValue(text, cell)) found.push(cell);
    const end = tuple.at(-1)?.end ?? from;
    const next = /^["'`\s]{0,4}\)\s{0,8},\s{0,8}\(/.exec(text.slice(end, end + 24));
    if (!next) break;
    from = end + next[0].length;
  }
  return found;
}

function holdsValue(text: string, { start, end }: Stretch): boolean {
  return !NO_VALUE.test(text.slice(start, Math.min(end, start + MAX_VALUE)));
}

/**
 * Below the head of a table the whole column, below another line its next values: a text in which
 * every line passes for a head would take quadratic time.
 */
function rows(text: string, lineStart: number, labelEnd: number, lineEnd: number): FieldValue[] {
  if (lineEnd < 0 || lineEnd - lineStart > MAX_LINE) return [];
  const head = text.slice(lineStart, lineEnd);
  const delimiter = ['|', '│', '\t', ';', ','].find((sign) => head.includes(sign));
  if (delimiter === undefined) return onlyColumn(text, head, lineEnd);
  // The members of an object and the arguments of a call are no columns.
  if (delimiter === ',' && /["']\s?:\s|\w\(["'].{0,200}=["']/.test(head)) return [];
  const index = count(text.slice(lineStart, labelEnd), delimiter);
  const names = cells(text, lineStart, lineEnd, delimiter);
  const columns = names.length;
  // In code, an indented line or one with a comma at its end is an item of a list.
  if (!/[|│]/.test(delimiter) && names.filter(({ start, end }) => end > start).length < 2)
    return [];
  const isWhole = index < MAX_WHOLE && isHead(text, lineStart, delimiter, columns);
  const most = isWhole ? MAX_COLUMN : MAX_ROWS;
  const values: FieldValue[] = [];
  let from = lineEnd + 1;
  for (let line = 0; values.length < most && from < text.length; line++) {
    const feed = text.slice(from, from + MAX_LINE).indexOf('\n');
    const next = feed < 0 ? -1 : from + feed;
    const to = next < 0 ? Math.min(text.length, from + MAX_LINE) : next;
    if (next >= 0 && line < MAX_RULES && isRule(text.slice(from, to))) {
      from = next + 1;
      continue;
    }
    const isNear = line < MAX_LINES;
    const found = cells(text, from, to, delimiter, isNear ? Math.max(1, index) : MAX_CELLS);
    const isRow = found.length === columns && text[to - 1] !== ':';
    if (isNear ? found.length <= 1 : !isWhole || !isRow) break;
    const cell = found[index];
    if (cell && holdsValue(text, cell)) values.push(cell);
    if (next < 0) break;
    from = next + 1;
  }
  return values;
}

/** Lines between the head of a table and its rows: `+----+----+`, `----+----`, `├────┼────┤`. */
const MAX_RULES = 2;
const isRule = (line: string): boolean =>
  /^[ \t]{0,8}[+|├╞-]?[-=─═]{2}[-=+| \t─═┼╪┤╡]*\r?$/.test(line);

/** A table of one column, as psql prints it: only the rule below its head tells it from a text. */
function onlyColumn(text: string, head: string, lineEnd: number): FieldValue[] {
  const rule = /^-{3,80}[ \t]{0,4}\r?\n/.exec(text.slice(lineEnd + 1, lineEnd + 90));
  if (!rule || !/^[ \t]{0,40}[\w ]{1,40}\r?$/.test(head)) return [];
  const values: FieldValue[] = [];
  let from = lineEnd + 1 + rule[0].length;
  for (let line = 0; line < MAX_LINES && from < text.length; line++) {
    const slice = text.slice(from, from + MAX_LINE);
    const feed = slice.indexOf('\n');
    const row = feed < 0 ? slice : slice.slice(0, feed);
    if (isRule(row) || /^\s{0,40}(?:$|\(\d)/.test(row)) break;
    const cell = trimmed(text, from, from + row.length);
    if (holdsValue(text, cell)) values.push(cell);
    from += row.length + 1;
  }
  return values;
}

/** Whether no row stands before; a sentence that announces the table may have as many commas. */
function isHead(text: string, lineStart: number, delimiter: string, columns: number): boolean {
  if (lineStart === 0 || text[lineStart - 2] === ':') return true;
  const from = Math.max(0, lineStart - 1 - MAX_LINE);
  const before = from + text.slice(from, lineStart - 1).lastIndexOf('\n') + 1;
  return cells(text, before, lineStart - 1, delimiter).length !== columns;
}

/** The cells of one line, up to the wanted one. Quoted cells may contain the delimiter. */
function cells(
  text: string,
  from: number,
  to: number,
  delimiter: string,
  last = MAX_CELLS,
): FieldValue[] {
  const found: FieldValue[] = [];
  let start = from;
  let quote = '';
  for (let i = from; i <= to; i++) {
    const character = i === to ? delimiter : (text[i] ?? delimiter);
    if (quote !== '' && i < to) {
      if (character === quote) quote = '';
      continue;
    }
    if (character === '"' || character === "'") quote = character;
    if (character !== delimiter && !(delimiter === ',' && character === ')')) continue;
    found.push(trimmed(text, start, i));
    start = i + 1;
    if (character === ')' || found.length > Math.min(last, MAX_CELLS)) break;
  }
  return found;
}

function trimmed(text: string, from: number, to: number): FieldValue {
  let start = from;
  let end = Math.min(to, text.length);
  while (start < end && /[\s"'`(]/.test(text[start] ?? '')) start++;
  const quoted = start > from && /["'`]/.test(text[start - 1] ?? '');
  while (end > start && /[\s"'`]/.test(text[end - 1] ?? '')) end--;
  return { start, end, link: 'column', quoted };
}

function count(text: string, sign: string): number {
  let found = 0;
  for (let i = text.indexOf(sign); i >= 0; i = text.indexOf(sign, i + 1)) found++;
  return found;
}
