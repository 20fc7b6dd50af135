/**
 * A value in the rows of a table, each with a part of it and its place: {"name": …, "seq": 0,
 * "chunk": …}. The rows of one name stand joined in their place.
 */
import type { Edit } from './view.ts';

const PLACE =
  'seq(?:_?(?:no|num))?|sequence|idx|index|position|offset|ord(?:er|inal)?|(?:chunk|part|piece|frag(?:ment)?|segment)_?(?:no|nr|num|number|index|idx|id|seq)';
const PLACES = new RegExp(`^(?:${PLACE}|part|chunk|pos|num|no|nr|n|i)$`, 'i');
const PARTS =
  /^(?:chunks?|parts?|pieces?|frag(?:ment)?s?|segments?|data|text|value|val|v|content|body|payload|string|str)$/i;

/** Where a text may contain some. */
export const ROW_MARK = `(?i)\\b(?:${PLACE}|part|chunk|pos)\\b\\\\{0,3}["']?\\s?: ?\\d`;

/** A field in JSON, also within a string; or of a document (../json-document.ts). */
const FIELD =
  /(?:\\{0,3}"([A-Za-z_]\w{0,30})\\{0,3}"\s{0,3}:\s{0,3}|(?<=^|\n)([A-Za-z_]\w{0,30}): )(?:(\d{1,9})(?![\w.])|\\{0,3}"([^"\\\n]{0,400}))/g;
/** Between two fields of a row, and between two rows. */
const MAX_BETWEEN = 24;

interface Row {
  readonly start: number;
  end: number;
  readonly fields: Map<string, string>;
}

/** Only called for a text with the mark of one. */
export function joinedRows(text: string): Edit[] {
  const edits: Edit[] = [];
  let rows: Row[] = [];
  const close = (): void => {
    const edit = joinedTable(rows);
    if (edit) edits.push(edit);
    rows = [];
  };
  for (const { 0: written, 1: name, 2: bare, 3: digits, 4: value = '', index } of text.matchAll(
    FIELD,
  )) {
    const key = name ?? bare ?? '';
    const end = index + written.length;
    let row = rows.at(-1);
    if (row && index - row.end > MAX_BETWEEN) {
      close();
      row = undefined;
    }
    if (!row || row.fields.has(key)) {
      row = { start: index, end, fields: new Map() };
      rows.push(row);
    }
    row.fields.set(key, digits ?? value);
    row.end = end;
  }
  close();
  return edits;
}

interface Part {
  readonly place: number;
  readonly text: string;
}

function joinedTable(rows: readonly Row[]): Edit | undefined {
  if (rows.length < 2) return undefined;
  const values = new Map<string, { readonly label: string; readonly parts: Part[] }>();
  for (const { fields } of rows) {
    const names = [...fields.keys()];
    const part = names.find((name) => PARTS.test(name) && !/^\d*$/.test(fields.get(name) ?? ''));
    const place = names.find(
      (name) => name !== part && PLACES.test(name) && /^\d+$/.test(fields.get(name) ?? ''),
    );
    if (part === undefined || place === undefined) continue;
    const others = names.filter((name) => name !== part && name !== place);
    // What else the rows say of the value is the same in each.
    const label = others
      .map((name) => fields.get(name) ?? '')
      .find((value) => /[A-Za-z]{3}/.test(value));
    const known = values.get(label ?? '') ?? { label: label ?? part, parts: [] };
    known.parts.push({ place: Number(fields.get(place)), text: fields.get(part) ?? '' });
    values.set(label ?? '', known);
  }
  const whole = [...values.values()].filter(({ parts }) => parts.length > 1);
  const [first, last] = [rows[0], rows.at(-1)];
  if (whole.length === 0 || !first || !last) return undefined;
  const replacement = whole
    .map(({ label, parts }) => {
      const inOrder = [...parts].sort((a, b) => a.place - b.place);
      return `"${label}": "${inOrder.map(({ text }) => text).join('')}"`;
    })
    .join(', ');
  return { start: first.start, end: last.end, replacement, disguise: ['split'] };
}
