/** Whether the items of a list are things that a call changes. */
import { type ArgumentName, readArgumentName } from '../arguments/argument-kinds.ts';
import type { ReachCall } from '../reach-finding.ts';
import { areReads } from '../read-requests.ts';
import { wordSet } from '../word-set.ts';

/** Lists that are parts of one thing, however long. */
const PARTS = wordSet(
  'edits lines hunks vector vectors embedding embeddings values coordinates pixels columns fields headers args arguments options params history styles',
);
/** Lists of rows, which are lists themselves, and words of tools that write rows. */
const TABLES = wordSet('rows values data records cells table');
const WRITES_ROWS = wordSet(
  'append insert add write update upsert import put row rows sheet sheets spreadsheet',
);
const OF_VECTORS = wordSet('vector vectors embedding embeddings');

/** Words of tools that draw what they are given. */
const DRAWS = wordSet(
  'draw render plot plots plotting chart charts charting heatmap histogram scatterplot boxplot sparkline diagram visualize visualise visualization map maps geocode',
);
/** Words of tools that say the same in another form. */
const SAYS_AGAIN = wordSet('translate translation transliterate summarize tokenize');
/** Words before what a tool does, with many things at once. */
const AT_ONCE = wordSet('batch bulk multi');
/** Words of tools that ask about many things at once, or when people are free. */
const ASKS_OF_MANY = wordSet('mget msearch hmget freebusy availability');
/** Words beside which people are not only asked for. */
const BOOKS = wordSet('create book schedule block reserve notify');
/** First words of tools that only ask about what they are given. */
const ASKS = wordSet('read get search find fetch lookup geocode list describe count check');
/** Words beside which a tool does more than that. */
const CHANGES = wordSet(
  'and then set send write update add insert import upsert put post patch move archive assign close invite merge apply publish replace upload save store sync install run execute batch bulk mapping forward reply submit',
);

/** Whether a tool asks, and does nothing else, wherever its name says so. */
export const asksOnly = (words: readonly string[]): boolean =>
  asksOfMany(words) ||
  (words.some((word) => ASKS.has(word)) && !words.some((word) => CHANGES.has(word)));

const asksOfMany = (words: readonly string[]): boolean =>
  (words.some((word) => ASKS_OF_MANY.has(word)) || words.join(' ').includes('free busy')) &&
  !words.some((word) => CHANGES.has(word) || BOOKS.has(word));

/** Whether a tool draws or reads what it is given, and changes none of it. */
export function isForShow(named: readonly string[]): boolean {
  const words = AT_ONCE.has(named[0] ?? '') ? named.slice(1) : named;
  if (named.some((word) => SAYS_AGAIN.has(word))) {
    return named.every((word) => AT_ONCE.has(word) || !CHANGES.has(word));
  }
  if (words.some((word) => CHANGES.has(word))) return false;
  if (asksOfMany(words)) return true;
  // Of a knowledge graph.
  if (words.join(' ') === 'open nodes') return true;
  if (ASKS.has(words[0] ?? '')) return true;
  // `map_users_to_groups` draws none.
  return words.some((word, at) => DRAWS.has(word) && !(word === 'map' && at === 0));
}

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
  if (!isDelete && isForShow(words)) return 'parts';
  if (!isDelete && list.length > 0 && list.every(isPoint)) return 'data';
  if (list.length > 0 && list.every(Array.isArray)) {
    const isOfRows = words.some((word) => WRITES_ROWS.has(word));
    const isOfVectors = words.some((word) => OF_VECTORS.has(word));
    if (!isInList && TABLES.has(name.last) && isOfRows && !isOfVectors) return 'rows';
    if (!isDelete && name.kind !== 'ids' && list.every(isTuple)) return 'data';
  }
  if (isOfLabels(name)) return 'parts';
  if (PARTS.has(name.last) || (isInList && name.kind !== 'ids')) return 'parts';
  const hasFractions = list.some((one) => typeof one === 'number' && !Number.isInteger(one));
  return hasFractions ? 'parts' : 'things';
}

const isTuple = (one: unknown[]): boolean =>
  one.length > 0 && one.every((item) => typeof item === 'number');

const LABELS = wordSet('label labels tag tags');
const LINKS = wordSet('add remove');

/** Labels that other things get or lose: `addLabelIds`. */
const isOfLabels = ({ words }: ArgumentName): boolean =>
  LINKS.has(words[0] ?? '') && words.some((word) => LABELS.has(word));

/** Members of a point, beside which nothing says what it would change. */
const OF_POINT = wordSet(
  'x y z lat lng lon long latitude longitude alt altitude elevation weight intensity value time timestamp',
);

const isPoint = (one: unknown): boolean =>
  typeof one === 'object' &&
  one !== null &&
  (('x' in one && 'y' in one) || 'lat' in one || 'latitude' in one) &&
  Object.keys(one).every((key) => OF_POINT.has(key));
