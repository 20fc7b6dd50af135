/** Values near a label, for patterns whose form tells more than their place. */
import type { Stretch } from './builtin-pattern.ts';
import { columnValues } from './columns.ts';
import { fieldValues, identifierEnd } from './fields.ts';

export interface Neighbourhood {
  /** Characters after the label. */
  readonly after: number;
  /** Characters before the label, for "1984-03-12 (date of birth)". */
  readonly before: number;
}

const DIGIT = /\d/;
/** What stands behind the name of a column. */
const HEAD_OF_COLUMN = /^["'`]?[,;|│\t]/;
/** Characters after a label within which its column and its positions in a statement are read. */
const FAR = 3000;

/**
 * Stretches of a form near a label: after it first, then in its column, then before it.
 *
 * @param find all stretches of the form in a short text, by their offsets there
 */
export function findNear(
  text: string,
  start: number,
  end: number,
  { after, before }: Neighbourhood,
  find: (window: string) => readonly Stretch[],
): readonly Stretch[] {
  // Behind a column's name stand those of other columns, and the first row.
  const cells = HEAD_OF_COLUMN.test(text.slice(end, end + 2)) ? inColumnBelow(text, end, find) : [];
  if (cells.length > 0) return cells;
  // A value after a full stop and a space belongs to the next sentence.
  const behind = text.slice(end, end + after);
  const near = find(behind)[0];
  if (near && near.start < sentenceEnd(behind)) {
    const first = shift(near, end);
    return [first, ...belowFirst(text, end, first, find)];
  }
  // Every form has a digit; without one, the places of a value need not be searched.
  if (!DIGIT.test(text.slice(Math.max(0, start - before), end + FAR))) return [];
  const inColumn: Stretch[] = [];
  for (const value of fieldValues(text, end)) {
    const found = find(text.slice(value.start, value.end))[0];
    if (found) inColumn.push(shift(found, value.start));
    if (found && value.link !== 'column') break;
  }
  if (inColumn.length > 0) return inColumn;
  const from = Math.max(0, start - before);
  const last = before > 0 ? find(text.slice(from, start)).at(-1) : undefined;
  return last ? [shift(last, from)] : [];
}

const inColumnBelow = (
  text: string,
  labelEnd: number,
  find: (window: string) => readonly Stretch[],
): readonly Stretch[] =>
  columnValues(text, identifierEnd(text, labelEnd)).flatMap(({ start, end }) => {
    const [found] = find(text.slice(start, end));
    return found ? [shift(found, start)] : [];
  });

/** The other values of the column in which the first one stands. */
function belowFirst(
  text: string,
  labelEnd: number,
  first: Stretch,
  find: (window: string) => readonly Stretch[],
): readonly Stretch[] {
  if (!text.slice(labelEnd, first.start).includes('\n')) return [];
  const column = columnValues(text, identifierEnd(text, labelEnd));
  if (!column.some(({ start, end }) => start <= first.start && first.end <= end)) return [];
  return column.flatMap(({ start, end }) => {
    const [found] = find(text.slice(start, end));
    return found && start > first.start ? [shift(found, start)] : [];
  });
}

const shift = ({ start, end }: Stretch, by: number): Stretch => ({
  start: start + by,
  end: end + by,
});

function sentenceEnd(window: string): number {
  const stop = /[a-zà-ÿ)]{3}[.!?] +[A-ZÀ-Ý]|\n\s*\n/.exec(window);
  return stop ? stop.index + 4 : window.length;
}

/** Every match of an expression as a stretch; if it has a group, the group's. */
export function stretches(expression: RegExp, accept: (value: string) => boolean = () => true) {
  return (window: string): readonly Stretch[] => {
    const found: Stretch[] = [];
    for (const match of window.matchAll(expression)) {
      const value = match[1] ?? match[0];
      const start = match.index + match[0].indexOf(value);
      if (accept(value)) found.push({ start, end: start + value.length });
    }
    return found;
  };
}
