/** How many things a text lists. */

/** Numbers in a range such as `1-5000`. */
const RANGE = /^(\d{1,12})(?:-|\.\.)(\d{1,12})$/;

/** The things in `1,2,3`, and in `1-5000`. */
export function countOf(text: string): number {
  const parts = text.split(/[,;|\n]/);
  let count = parts.length > 1 ? parts.filter((part) => part.trim() !== '').length : 0;
  for (const part of parts) {
    const [, first, last] = RANGE.exec(part.trim()) ?? [];
    const span = Number(last) - Number(first);
    if (span > 0) count += span;
  }
  return count;
}
