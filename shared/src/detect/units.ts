/** The UTF-16 units of a text as numbers in a row: reading them costs less than asking a string. */

/** Longer texts have an array of their own. */
const KEPT = 65_536;

/**
 * What is kept is one array for all texts that are read at one place, one after another.
 *
 * @returns gives the units of a text, then a 0; they are good until it is asked for the next
 */
export function createUnitReader(): (text: string) => Uint16Array {
  const kept = new Uint16Array(KEPT + 1);
  const keptBytes = Buffer.from(kept.buffer);
  return (text) => {
    if (text.length <= KEPT) {
      keptBytes.write(text, 'utf16le');
      kept[text.length] = 0;
      return kept;
    }
    const units = new Uint16Array(text.length + 1);
    Buffer.from(units.buffer).write(text, 'utf16le');
    return units;
  };
}
