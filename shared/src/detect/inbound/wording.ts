/**
 * A passage's wording beside its concepts: words, their first letters, and runs of two to four of
 * them, hashed into a fixed number of weights. Ideographs and kana are words of one character each,
 * so that their runs are pieces of words.
 */

const BITS = 17;
export const WORDING_COUNT = 1 << BITS;
/** Letters by which the forms of one word are taken for the same. */
export const STEM_LETTERS = 5;
/** Words of a passage whose wording is weighed: a longer passage ends before. */
export const MAX_WORDS = 100;
/** A passage of fewer words says too little by its wording alone. */
export const MIN_WORDS = 4;
const START = 0x51ed27;

/** In which passage a feature was seen last: what is repeated says nothing more. */
const seenIn = new Uint32Array(WORDING_COUNT);
let passages = 0;

/**
 * @param words a number for each word and one for its stem, in turns
 * @param told gets the number of each feature once, from 0, below `WORDING_COUNT`
 */
export function eachWording(words: readonly number[], told: (feature: number) => void): void {
  passages = (passages + 1) >>> 0;
  if (passages === 0) {
    // The numbers begin anew: none of before may be taken for one of now.
    seenIn.fill(0);
    passages = 1;
  }
  const take = (feature: number) => {
    if (seenIn[feature] === passages) return;
    seenIn[feature] = passages;
    told(feature);
  };
  let third = 0;
  let second = 0;
  let last = START;
  for (let at = 0; at < words.length; at += 2) {
    const word = words[at] as number;
    const stem = words[at + 1] as number;
    take(slot(word, 1));
    if (stem !== word) take(slot(stem, 2));
    const two = Math.imul(last, 0x2c1b3c6d) ^ stem;
    take(slot(two, 3));
    if (second !== 0) {
      const three = Math.imul(second, 0x297a2d39) ^ two;
      take(slot(three, 5));
      take(slot(Math.imul(second, 0x1b56c4e9) ^ stem, 7));
      if (third !== 0) take(slot(Math.imul(third, 0x7feb352d) ^ three, 11));
    }
    third = second;
    second = last;
    last = stem;
  }
}

/** What the wording of a passage weighs, in units of the weights. */
export function sumWording(weights: Int8Array, words: readonly number[]): number {
  let sum = 0;
  eachWording(words, (feature) => {
    sum += weights[feature] as number;
  });
  return sum;
}

function slot(hash: number, salt: number): number {
  const mixed = Math.imul(hash ^ Math.imul(salt, 0x9e3779b1), 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35) >>> (32 - BITS);
}
