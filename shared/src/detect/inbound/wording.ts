/**
 * A passage's wording beside its concepts: words, their first letters, and runs of two and three of
 * them, hashed into a fixed number of weights. Ideographs and kana are one-character words, so that
 * their runs are pieces of words.
 */
import {
  addFeature,
  beginFeatures,
  featureCount,
  HASHED_COUNT,
  sumFeatures,
  type Told,
  tellFeatures,
} from './feature-set.ts';

export const WORDING_COUNT = HASHED_COUNT;
/** Letters by which the forms of a word are treated as the same. */
export const STEM_LETTERS = 5;
/** Words of a passage whose wording is weighed: a longer passage is cut. */
export const MAX_WORDS = 100;
/** The wording of a passage with fewer words says too little. */
export const MIN_WORDS = 4;
/** A word's numbers in `Wording.words`: its own, and one for its stem. */
export const NUMBERS_OF_WORD = 2;
/** The number of wordings of a passage that count in full. */
const FEW = 24;
const START = 0x51ed27;
/** How much each kind counts, as measured on authors left out of the training. */
const WORD = 0.75;
const RUN_OF_TWO = 1.6;
const RUN_OF_THREE = 0.7;

/** A passage's words within those of its text. */
export interface Wording {
  /** Valid until another text is examined. */
  readonly words: Int32Array;
  readonly from: number;
  readonly to: number;
}

export const NO_WORDING: Wording = { words: new Int32Array(0), from: 0, to: 0 };

/** The end of the words that are weighed. */
export const endOf = ({ from, to }: Wording): number =>
  Math.min(to, from + NUMBERS_OF_WORD * MAX_WORDS);

/** @param wording only the first `MAX_WORDS` are read */
export function eachWording(wording: Wording, told: Told): void {
  readWording(wording);
  tellFeatures(told, shareOf(featureCount()));
}

/** The weight of a passage's wording, in units of the weights. */
export function sumWording(weights: Int8Array, wording: Wording): number {
  readWording(wording);
  return sumFeatures(weights) * shareOf(featureCount());
}

function readWording(wording: Wording): void {
  const { words, from } = wording;
  beginFeatures();
  let second = 0;
  let last = START;
  const end = endOf(wording);
  for (let at = from; at < end; at += NUMBERS_OF_WORD) {
    const word = words[at] as number;
    const stem = words[at + 1] as number;
    addFeature(word, 1, WORD);
    if (stem !== word) addFeature(stem, 2, WORD);
    const two = Math.imul(last, 0x2c1b3c6d) ^ stem;
    addFeature(two, 3, RUN_OF_TWO);
    if (second !== 0) addFeature(Math.imul(second, 0x297a2d39) ^ two, 5, RUN_OF_THREE);
    second = last;
    last = stem;
  }
}

/** How much each wording of a passage counts: a long sentence has many, but is not worse for it. */
function shareOf(count: number): number {
  return count <= FEW ? 1 : Math.sqrt(FEW / count);
}
