/** How many things a delete takes that are named by the first and the last one. */
import { wordSet } from '../word-set.ts';

const STARTS = ['start', 'start_index', 'startIndex', 'start_row', 'startRow', 'first', 'from_row'];
const ENDS = ['end', 'end_index', 'endIndex', 'end_row', 'endRow', 'last', 'to_row'];
const RANGES = wordSet(
  'range ranges cell_range cellRange a1_range a1Range id_range idRange uid_range uidRange uids sequence_set',
);
/** Of a spreadsheet: `Sheet1!A1:C200`; without numbers all rows. */
const CELLS = /^(?:[^!]{1,100}!)?\$?[A-Za-z]{1,3}\$?(\d{0,8}):\$?[A-Za-z]{1,3}\$?(\d{0,8})$/;
/** Of numbers: `1-5000`, and of a mailbox `1:5000` and `1:*`. */
const NUMBERS = /^(\d{1,12})(?:-|\.\.|:)(\d{1,12}|\*)$/;
/** Rows of a sheet, or messages of a mailbox, where a range ends with it. */
const ALL_ROWS = 1_000_000;

/** Words of tools that take nothing away but how cells look. */
const LOOKS = wordSet('format formats formatting style styles validation highlight color colors');

/** Otherwise such numbers may be signs of a text, or times. */
const ROWS = wordSet('row rows record records dimension');

/** @param words of the tool's name */
export function countRange(
  args: Readonly<Record<string, unknown>>,
  words: readonly string[],
): number {
  if (words.some((word) => LOOKS.has(word))) return 0;
  const hasRows = words.some((word) => ROWS.has(word));
  const first = STARTS.map((key) => args[key]).find((one) => typeof one === 'number');
  const last = ENDS.map((key) => args[key]).find((one) => typeof one === 'number');
  let count = hasRows && typeof first === 'number' && typeof last === 'number' ? last - first : 0;
  for (const key of Object.keys(args)) {
    const value = args[key];
    if (RANGES.has(key) && typeof value === 'string') count = Math.max(count, rowsOf(value));
  }
  return Number.isFinite(count) ? Math.max(count, 0) : 0;
}

function rowsOf(range: string): number {
  if (range.length > 200) return 0;
  const [, from, to] = CELLS.exec(range) ?? NUMBERS.exec(range.trim()) ?? [];
  if (from === undefined || to === undefined) return 0;
  return to === '' || to === '*' ? ALL_ROWS : Number(to) - Number(from || 1) + 1;
}
