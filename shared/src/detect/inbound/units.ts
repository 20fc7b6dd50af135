/** The UTF-16 units of a text as numbers in a row: reading them costs less than asking a string. */

/** Longer texts have an array of their own. */
const KEPT = 65_536;
const kept = new Uint16Array(KEPT + 1);
const keptBytes = Buffer.from(kept.buffer);

/** The units, then a 0. They are good until the next text is asked for. */
export function unitsOf(text: string): Uint16Array {
  if (text.length <= KEPT) {
    keptBytes.write(text, 'utf16le');
    kept[text.length] = 0;
    return kept;
  }
  const units = new Uint16Array(text.length + 1);
  Buffer.from(units.buffer).write(text, 'utf16le');
  return units;
}
