/**
 * A passage's wording beside its concepts: words, their first letters, and runs of two and three of
 * them, hashed into a fixed number of weights. Ideographs and kana are one-character words, so that
 * their runs are pieces of words.
 */
import {
  addFeature,
  beginFeatures,
  featureCount,
  features,
  HASHED_COUNT,
  sumFeatures,
} from './feature-set.ts';

export const WORDING_COUNT = HASHED_COUNT;
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
 * @param wording only the first `MAX_WORDS` are read
 * @param told receives the number of each feature once, from 0, below `WORDING_COUNT`
 */
export function eachWording(wording: Wording, told: (feature: number) => void): void {
  readWording(wording);
  for (let at = 0; at < featureCount(); at += 1) told(features[at] as number);
}

/** The weight of a passage's wording, in units of the weights. */
export function sumWording(weights: Int8Array, wording: Wording): number {
  readWording(wording);
  return sumFeatures(weights) * shareOf(featureCount());
}

function readWording({ words, from, to }: Wording): void {
  beginFeatures();
  let second = 0;
  let last = START;
  const end = Math.min(to, from + 2 * MAX_WORDS);
  for (let at = from; at < end; at += 2) {
    const word = words[at] as number;
    const stem = words[at + 1] as number;
    addFeature(word, 1);
    if (stem !== word) addFeature(stem, 2);
    const two = Math.imul(last, 0x2c1b3c6d) ^ stem;
    addFeature(two, 3);
    if (second !== 0) addFeature(Math.imul(second, 0x297a2d39) ^ two, 5);
    second = last;
    last = stem;
  }
}

/** How much each wording of a passage counts: a long sentence has many, but is not worse for it. */
export function shareOf(count: number): number {
  return count <= FEW ? 1 : Math.sqrt(FEW / count);
}
