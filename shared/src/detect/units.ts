/** The UTF-16 units of a text as an array of numbers: faster to read than the string. */

/** Longer texts get an array of their own. */
const KEPT = 65_536;

/**
 * One array is reused for all texts read by one reader, one after another.
 *
 * @returns a function that returns the units of a text, then a 0; valid until its next call
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
