/** How many things a text lists. */

/** Numbers in a range such as `1-5000`. */
const RANGE = /^(\d{1,12})(?:-|\.\.)(\d{1,12})$/;

/** The things in `1,2,3`, and in `1-5000`. Parts are cut one by one: a split of commas alone is dear. */
export function countOf(text: string): number {
  let count = 0;
  let things = 0;
  let begin = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && !isBetween(text.charCodeAt(at))) continue;
    const thing = at > begin ? text.slice(begin, at).trim() : '';
    if (thing !== '') {
      things++;
      count += spanOf(thing);
    }
    // What stands alone is no list, unless it is a range.
    if (at === text.length && begin === 0) return count > 0 ? count + things : 0;
    begin = at + 1;
  }
  return count + things;
}

function spanOf(thing: string): number {
  const range = RANGE.exec(thing);
  return range === null ? 0 : Math.max(Number(range[2]) - Number(range[1]), 0);
}

/** Commas, semicolons, bars and line feeds. */
const isBetween = (c: number): boolean => c === 0x2c || c === 0x3b || c === 0x7c || c === 0x0a;
