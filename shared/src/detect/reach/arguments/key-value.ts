/** Commands of a key-value store, which a tool takes as others take those of a shell. */

/** Those whose operands are keys, or keys with their values, and how many words are one. */
const COMMANDS = new Map([
  ['del', 1],
  ['unlink', 1],
  ['mset', 2],
  ['msetnx', 2],
  ['json.mset', 3],
]);
const DELETES = new Set(['del', 'unlink']);

/** No file: neither a path nor a wildcard. */
const KEY = /^[^\\/.*?]+$/;
/** As programs name their keys: `cart:8812`; one letter before the colon is a drive. */
const NAMED_KEY = /^[\w{}-]{2,100}:[^\\/*?\s]{1,1000}$/;

/**
 * How many keys such a command changes.
 *
 * @param isCertain whether only such a store can be meant
 * @returns undefined for another command, such as one that deletes files
 */
export function countKeys(words: readonly string[], isCertain: boolean): number | undefined {
  const [name = '', ...rest] = words;
  const size = COMMANDS.get(name.toLowerCase());
  if (size === undefined) return undefined;
  const isPlain = isCertain || name === name.toUpperCase();
  if (!DELETES.has(name.toLowerCase())) return isPlain ? Math.floor(rest.length / size) : undefined;
  const areKeys =
    rest.length > 0 &&
    rest.every((word) => (isCertain && name === 'DEL' && KEY.test(word)) || NAMED_KEY.test(word));
  return areKeys ? rest.length : undefined;
}
