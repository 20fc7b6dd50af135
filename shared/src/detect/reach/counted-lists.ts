/** Whether the items of a list are things that a call changes. */
import { type ArgumentName, readArgumentName } from './argument-kinds.ts';
import type { ReachCall } from './reach-finding.ts';
import { areReads } from './read-requests.ts';
import { wordSet } from './word-set.ts';

/** Lists that are parts of one thing, however long. */
const PARTS = wordSet(
  'edits lines hunks vector vectors embedding embeddings values coordinates pixels columns fields headers args arguments options params history',
);
/** Lists of rows, which are lists themselves, and words of tools that write rows. */
const TABLES = wordSet('rows values data records cells table');
const WRITES_ROWS = wordSet(
  'append insert add write update upsert import put row rows sheet sheets spreadsheet',
);
const OF_VECTORS = wordSet('vector vectors embedding embeddings');

/** The name under which the cells of a row are read: they are no things. */
export const CELLS: ArgumentName = readArgumentName('values');

/**
 * - `things`: each item is one
 * - `rows`: each item is one, with its cells
 * - `data`: numbers, such as the points of a chart
 * - `reads`: requests that change nothing
 * - `parts`: of one thing
 */
export type ListKind = 'things' | 'rows' | 'data' | 'reads' | 'parts';

/**
 * @param words of the tool's name
 * @param isInList whether it stands within another list
 */
export function listKindOf(
  list: readonly unknown[],
  name: ArgumentName,
  action: ReachCall['action'],
  words: readonly string[],
  isInList: boolean,
): ListKind {
  const isDelete = action === 'delete';
  if (!isDelete && areReads(list)) return 'reads';
  if (list.length > 0 && list.every(Array.isArray)) {
    const isOfRows = words.some((word) => WRITES_ROWS.has(word));
    const isOfVectors = words.some((word) => OF_VECTORS.has(word));
    if (!isInList && TABLES.has(name.last) && isOfRows && !isOfVectors) return 'rows';
    if (!isDelete && name.kind !== 'ids' && list.every(isTuple)) return 'data';
  }
  if (PARTS.has(name.last) || (isInList && name.kind !== 'ids')) return 'parts';
  const hasFractions = list.some((one) => typeof one === 'number' && !Number.isInteger(one));
  return hasFractions ? 'parts' : 'things';
}

const isTuple = (one: unknown[]): boolean =>
  one.length > 0 && one.every((item) => typeof item === 'number');
