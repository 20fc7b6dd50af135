/**
 * Keys in several objects of an array: `[{"part": "AKIAQ7"}, {"part": "MZ3HT…"}]`. Rows of ordinary
 * data are many, so only what begins like an issuer's key is joined with the rows behind it.
 */
import { ISSUER_MARKS } from './decode/issuer-marks.ts';
import { isEdge, MAX_END, MAX_RUN, MAX_TOGETHER, type Piece, SMALL_PIECE } from './decode/split.ts';
import type { JsonDocument, Leaf } from './json-document.ts';

/** Characters of a mark that tell it; a part of a key that is cut earlier is not looked for. */
const MARK = 4;
const MARKS = new Set(
  [...ISSUER_MARKS, 'hf_', 'SG.', 'r8_', 'sk-', 'eyJ', '-----'].map((mark) => mark.slice(0, MARK)),
);

function isMarkAt(text: string, at: number): boolean {
  return MARKS.has(text.slice(at, at + MARK)) || MARKS.has(text.slice(at, at + MARK - 1));
}

/** Whether a text, or its last word, begins like a key. */
function beginsKey(text: string): boolean {
  if (isMarkAt(text, 0)) return true;
  let at = text.length;
  while (at > 0 && text.length - at < MAX_END && !isEdge(text, at - 1)) at--;
  return isMarkAt(text, at);
}

const tableOf = ({ tables }: JsonDocument, { kind, parent }: Leaf): number =>
  kind === 'string' ? (tables[parent] ?? 0) : 0;

/** Whether a field of an object in an array begins like a key. */
export function mayMakeColumn(document: JsonDocument): boolean {
  return document.leaves.some((leaf) => tableOf(document, leaf) !== 0 && beginsKey(leaf.value));
}

/** The fields that begin like a key, each with the fields of the same name behind it. */
export function eachColumnPiece(document: JsonDocument, take: (piece: Piece) => void): void {
  const columns = new Map<string, Leaf[]>();
  for (const leaf of document.leaves) {
    const table = tableOf(document, leaf);
    if (table === 0) continue;
    const name = `${table} ${leaf.key}`;
    const column = columns.get(name);
    if (column === undefined) columns.set(name, [leaf]);
    else column.push(leaf);
  }
  let group = 0;
  for (const column of columns.values()) {
    let first = -1;
    column.forEach(({ value, start, key }, i) => {
      if (beginsKey(value)) {
        if (first < 0) group++;
        first = i;
      }
      if (first < 0) return;
      const most = value.length <= SMALL_PIECE ? MAX_RUN : MAX_TOGETHER;
      if (i - first < most) take({ text: value, start, group, label: key, isLoose: true });
      else first = -1;
    });
    group++;
  }
}
