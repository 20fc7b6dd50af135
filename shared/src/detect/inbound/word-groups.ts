/** Words with similar meanings have the same group: what is learned of one holds for the others. */

/** Twice as many places as words, at least. */
const BITS = 15;
const PLACES = 1 << BITS;
/** Bytes of a word: its number, and its group's. */
const ROW = 6;

export interface WordGroups {
  /** The group of a word by its number (passage-words.ts); -1 if it has none. */
  find(word: number): number;
}

/**
 * @param base64 rows of a word's number (32 bits) and its group (16 bits), low byte first
 * @throws Error when these are not such rows, or too many of them
 */
export function readWordGroups(base64: string): WordGroups {
  const bytes = Buffer.from(base64, 'base64');
  const count = bytes.length / ROW;
  if (!Number.isInteger(count) || count * 2 > PLACES) {
    throw new Error('model.json has other groups of words: npm run inbound:train');
  }
  const words = new Int32Array(PLACES);
  /** 0: no word; otherwise its group and 1. */
  const groups = new Uint16Array(PLACES);
  for (let at = 0; at < bytes.length; at += ROW) {
    const word = bytes.readInt32LE(at);
    let place = placeOf(word);
    while (groups[place] !== 0) place = (place + 1) & (PLACES - 1);
    words[place] = word;
    groups[place] = bytes.readUInt16LE(at + 4) + 1;
  }
  return {
    find(word) {
      let place = placeOf(word);
      while (groups[place] !== 0) {
        if (words[place] === word) return (groups[place] as number) - 1;
        place = (place + 1) & (PLACES - 1);
      }
      return -1;
    },
  };
}

/** The rows that `readWordGroups` reads. */
export function writeWordGroups(rows: Iterable<readonly [word: number, group: number]>): string {
  const sorted = [...rows].sort(([one], [other]) => one - other);
  const bytes = Buffer.alloc(sorted.length * ROW);
  sorted.forEach(([word, group], index) => {
    bytes.writeInt32LE(word, index * ROW);
    bytes.writeUInt16LE(group, index * ROW + 4);
  });
  return bytes.toString('base64');
}

const placeOf = (word: number): number => Math.imul(word, 0x9e3779b1) >>> (32 - BITS);
