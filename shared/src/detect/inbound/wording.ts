/**
 * A passage's wording beside its concepts: words, their first letters, and runs of two to four of
 * them, hashed into a fixed number of weights. Ideographs and kana are one-character words, so that
 * their runs are pieces of words.
 */

const BITS = 17;
export const WORDING_COUNT = 1 << BITS;
/** Letters by which the forms of a word are treated as the same. */
export const STEM_LETTERS = 5;
/** Words of a passage whose wording is weighed: a longer passage is cut. */
export const MAX_WORDS = 100;
/** The wording of a passage with fewer words says too little. */
export const MIN_WORDS = 4;
/** The number of wordings of a passage that count in full. */
const FEW = 24;
const START = 0x51ed27;

/**
 * A passage's words within those of its text: alternately a number for each and one for its stem.
 */
export interface Wording {
  /** Valid until another text is examined. */
  readonly words: Int32Array;
  readonly from: number;
  readonly to: number;
}

export const NO_WORDING: Wording = { words: new Int32Array(0), from: 0, to: 0 };

/**
 * The passage in which a feature was last seen, as an eight-bit number: repetition adds nothing.
 */
const seenIn = new Uint8Array(WORDING_COUNT);
const MAX_NUMBER = 0xff;
let passages = 0;
/** The features of one passage: at most six per word. */
const features = new Int32Array(6 * MAX_WORDS);

/**
 * @param wording only the first `MAX_WORDS` are read
 * @param told receives the number of each feature once, from 0, below `WORDING_COUNT`
 */
export function eachWording(wording: Wording, told: (feature: number) => void): void {
  const count = readFeatures(wording);
  for (let at = 0; at < count; at += 1) told(features[at] as number);
}

/** The weight of a passage's wording, in units of the weights. */
export function sumWording(weights: Int8Array, wording: Wording): number {
  const count = readFeatures(wording);
  let sum = 0;
  for (let at = 0; at < count; at += 1) sum += weights[features[at] as number] as number;
  return sum * shareOf(count);
}

/** @returns how many entries of `features` belong to the words */
function readFeatures({ words, from, to }: Wording): number {
  passages += 1;
  if (passages > MAX_NUMBER) {
    // The numbers start over: no earlier one may be mistaken for a new one.
    seenIn.fill(0);
    passages = 1;
  }
  let count = 0;
  let third = 0;
  let second = 0;
  let last = START;
  const end = Math.min(to, from + 2 * MAX_WORDS);
  for (let at = from; at < end; at += 2) {
    const word = words[at] as number;
    const stem = words[at + 1] as number;
    count = take(slot(word, 1), count);
    if (stem !== word) count = take(slot(stem, 2), count);
    const two = Math.imul(last, 0x2c1b3c6d) ^ stem;
    count = take(slot(two, 3), count);
    if (second !== 0) {
      const three = Math.imul(second, 0x297a2d39) ^ two;
      count = take(slot(three, 5), count);
      count = take(slot(Math.imul(second, 0x1b56c4e9) ^ stem, 7), count);
      if (third !== 0) count = take(slot(Math.imul(third, 0x7feb352d) ^ three, 11), count);
    }
    third = second;
    second = last;
    last = stem;
  }
  return count;
}

function take(feature: number, count: number): number {
  if (seenIn[feature] === passages) return count;
  seenIn[feature] = passages;
  features[count] = feature;
  return count + 1;
}

/** How much each wording of a passage counts: a long sentence has many, but is not worse for it. */
export function shareOf(count: number): number {
  return count <= FEW ? 1 : Math.sqrt(FEW / count);
}

function slot(hash: number, salt: number): number {
  const mixed = Math.imul(hash ^ Math.imul(salt, 0x9e3779b1), 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35) >>> (32 - BITS);
}
