/**
 * The hashed features of one passage, each once: repetition adds nothing. One set for all passages,
 * one after another, so that nothing is allocated.
 */

/** With fewer, features of different meaning share a weight too often. */
const BITS = 20;
/** Each feature is a number from 0 up to, but not including, this. */
export const HASHED_COUNT = 1 << BITS;
const MAX_FEATURES = 1_024;
const MAX_NUMBER = 0xff;

/** Receives each feature, below `HASHED_COUNT`, and by how much its weight counts. */
export type Told = (feature: number, value: number) => void;

/** The set in which a feature was last seen, as an eight-bit number. */
const seenIn = new Uint8Array(HASHED_COUNT);
let sets = 0;
/** The features of the current set, and how much each counts: the first `featureCount()` entries. */
const features = new Int32Array(MAX_FEATURES);
const values = new Float32Array(MAX_FEATURES);
let count = 0;

export const featureCount = (): number => count;

/** Begins an empty set. */
export function beginFeatures(): void {
  count = 0;
  sets += 1;
  if (sets > MAX_NUMBER) {
    // The numbers start over: no earlier one may be mistaken for a new one.
    seenIn.fill(0);
    sets = 1;
  }
}

/**
 * @param salt distinguishes kinds of features
 * @param value by how much its weight counts
 */
export function addFeature(hash: number, salt: number, value: number): void {
  const mixed = Math.imul(hash ^ Math.imul(salt, 0x9e3779b1), 0x85ebca6b);
  const feature = Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35) >>> (32 - BITS);
  if (seenIn[feature] === sets || count === MAX_FEATURES) return;
  seenIn[feature] = sets;
  features[count] = feature;
  values[count] = value;
  count += 1;
}

/** The sum of the features' weights, each as far as it counts, in units of the weights. */
export function sumFeatures(weights: Int8Array): number {
  let sum = 0;
  for (let at = 0; at < count; at += 1) {
    sum += (weights[features[at] as number] as number) * (values[at] as number);
  }
  return sum;
}

/** @param share of each value that counts */
export function tellFeatures(told: Told, share: number): void {
  for (let at = 0; at < count; at += 1)
    told(features[at] as number, (values[at] as number) * share);
}
