/**
 * A variable that the line does not set and that may be empty: `D=${1:-}; rm -rf "$D/build"`. What
 * is deleted then is read in both ways, and only a person can tell which one it is. Everything else
 * is read as if it were empty, which hides least.
 */
/** Stands for such a variable that is a word by itself: none, if it is empty. A sign of no script. */
export const PERHAPS_EMPTY = '\uf8fe';
/** The same in quotes or beside other text. */
export const IN_A_WORD = PERHAPS_EMPTY.repeat(2);
const NAME = '$x';

export const isPerhapsEmpty = (value: string): boolean =>
  value.replaceAll(PERHAPS_EMPTY, '') === '';

const ASSIGNMENT = /^[A-Za-z_]\w{0,99}\+?=/;
/**
 * Keeps the sign only where a path begins that is deleted, or that a variable holds.
 *
 * @param isKept whether their command deletes, or sets what a variable holds
 */
export function settlePerhaps(texts: readonly string[], isKept: () => boolean): readonly string[] {
  if (!texts.some((text) => text.includes(PERHAPS_EMPTY))) return texts;
  const keeps = isKept();
  return texts.flatMap((text) => {
    if (text === PERHAPS_EMPTY && !keeps) return [];
    const start = ASSIGNMENT.exec(text)?.[0] ?? '';
    const value = text.slice(start.length);
    const plain = value.replaceAll(PERHAPS_EMPTY, '');
    const begins = value.startsWith(PERHAPS_EMPTY) && /^(?:$|[\\/*])/.test(plain);
    return (keeps || start !== '') && begins ? start + PERHAPS_EMPTY + plain : start + plain;
  });
}

/** The path with a name in its place, and what is left of it where it is empty. */
export function readPerhaps(text: string): { named: string; empty: string } | undefined {
  if (!text.startsWith(PERHAPS_EMPTY)) return undefined;
  const empty = text.slice(PERHAPS_EMPTY.length);
  return { named: NAME + empty, empty };
}
