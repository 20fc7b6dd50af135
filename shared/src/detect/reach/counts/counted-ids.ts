/** How many things an argument's text lists, also where blanks stand between them. */
import type { ArgumentName } from '../arguments/argument-kinds.ts';
import type { ReachCall } from '../reach-finding.ts';
import { wordSet } from '../word-set.ts';
import { countOf } from './counted-text.ts';

/** Texts under other names may be prose, or the cells of a row. */
const IDS = wordSet('ids uuids');
const OF_DELETE = wordSet(
  'ids uuids id keys numbers users members targets items records rows objects names messages threads events documents nodes issues',
);
/** Longer parts are no ids. */
const MAX_ID = 200;

export function countListed(text: string, name: ArgumentName, action: ReachCall['action']): number {
  const count = countOf(text);
  const mayBeIds = IDS.has(name.last) || (action === 'delete' && OF_DELETE.has(name.last));
  return mayBeIds ? Math.max(count, countIds(text)) : count;
}

/** Ids have digits; of prose most words have none. */
function countIds(text: string): number {
  let parts = 0;
  let ids = 0;
  let begin = 0;
  let hasDigit = false;
  for (let at = 0; at <= text.length; at++) {
    const c = at < text.length ? text.charCodeAt(at) : 0x20;
    if (c >= 0x30 && c <= 0x39) hasDigit = true;
    if (!isBetween(c)) continue;
    if (at > begin) parts++;
    if (hasDigit && at - begin <= MAX_ID) ids++;
    hasDigit = false;
    begin = at + 1;
  }
  return ids * 2 > parts ? ids : 0;
}

/** White space, commas, semicolons and bars. */
const isBetween = (c: number): boolean =>
  c <= 0x20 || c === 0xa0 || c === 0x2c || c === 0x3b || c === 0x7c;
