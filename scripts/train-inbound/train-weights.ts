/**
 * A logistic regression over the passages of texts (AdaGrad, one passage at a time). Weights start
 * from those set by hand, and move away only as far as the texts demand and the limits of
 * first-weights.ts allow.
 */
import { FEATURE_COUNT, featureOf } from '@governance/shared/detect/inbound/scoring';
import { WORDING_COUNT } from '@governance/shared/detect/inbound/wording';
import type { Bag, Passage } from './bags.ts';
import { FIRST_BIAS, FIRST_WEIGHTS, fallOf, firstWeightOf, riseOf } from './first-weights.ts';
import { createRandom } from './random.ts';

const ALL_COUNT = FEATURE_COUNT + WORDING_COUNT;
/** How far a hashed feature's weight may rise and fall, so that no single word decides. */
const WORDING_RISE = 0.7;
const WORDING_FALL = 0.5;
/** Below this error a passage teaches nothing. */
const LEAST_ERROR = 0.2;
/** The weights are the mean of those after each of the last rounds: this share of all. */
const MEAN_OF_LAST = 0.5;
const TWO_TO_32 = 0x1_0000_0000;

export interface Training {
  readonly epochs: number;
  readonly rate: number;
  /** How strongly weights are pulled back to the initial ones: a pair seen once proves little. */
  readonly pull: number;
  /** A false alarm costs more than a miss: hard benign texts are rarer here than in the world. */
  readonly benignCost: number;
  /** By how much the passages of an attack count beside its most suspicious one. */
  readonly otherPassages: number;
  /** The distance from 0 demanded of a score, as a reserve for unknown texts. */
  readonly margin: number;
  /** The share of hashed features dropped at each step, so that the model relies on none. */
  readonly leftOut: number;
}

export interface Weights {
  readonly bias: number;
  /** Concepts first, then hashed features, starting at `FEATURE_COUNT`. */
  readonly weights: Float64Array;
}

/**
 * Of ordinary passages each step moves every suspicious one, and the most suspicious of an ordinary
 * text; of an attack's, the most suspicious, and the others in part: not each of them must be found.
 */
export function trainWeights(bags: readonly Bag[], training: Training, seed: number): Weights {
  const { epochs, rate, pull, benignCost, otherPassages, margin } = training;
  const first = new Float64Array(ALL_COUNT);
  for (const name of Object.keys(FIRST_WEIGHTS)) first[featureOf(name)] = firstWeightOf(name);
  const weights = Float64Array.from(first);
  const squares = new Float64Array(ALL_COUNT).fill(0.2);
  const highest = first.map((home, at) => home + (at < FEATURE_COUNT ? riseOf(at) : WORDING_RISE));
  const lowest = first.map((home, at) => home - (at < FEATURE_COUNT ? fallOf(at) : WORDING_FALL));
  let bias = FIRST_BIAS;
  const random = createRandom(seed);
  const leftOut = training.leftOut * TWO_TO_32;

  const move = ({ features, values, concepts }: Passage, error: number, step: number) => {
    bias -= error * rate * 0.1;
    for (let at = 0; at < features.length; at += 1) {
      const feature = features[at] as number;
      if (at >= concepts && drawOf(feature, step) < leftOut) continue;
      const weight = weights[feature] as number;
      const slope = error * (values[at] as number);
      const gradient = slope + pull * (weight - (first[feature] as number)) * 10;
      const square = (squares[feature] as number) + gradient * gradient;
      squares[feature] = square;
      const moved = weight - (rate * gradient) / Math.sqrt(square);
      weights[feature] = Math.max(
        lowest[feature] as number,
        Math.min(moved, highest[feature] as number),
      );
    }
  };
  const sumLeft = ({ features, values, concepts }: Passage, step: number): number => {
    let sum = bias;
    for (let at = 0; at < features.length; at += 1) {
      const feature = features[at] as number;
      if (at >= concepts && drawOf(feature, step) < leftOut) continue;
      sum += (weights[feature] as number) * (values[at] as number);
    }
    return sum;
  };

  const mean = createMean(weights.length);
  for (let epoch = 0; epoch < epochs; epoch += 1) {
    for (const bag of random.shuffle(bags)) {
      const step = random.below(TWO_TO_32);
      const sums = bag.passages.map((passage) => sumLeft(passage, step));
      const top = findTop(bag.passages, sums, bag.isAttack);
      bag.passages.forEach((passage, index) => {
        const sum = sums[index] as number;
        if (passage.isAttack) {
          const error = sigmoid(sum - margin) - 1;
          move(passage, index === top ? error : error * otherPassages, step);
          return;
        }
        const error = sigmoid(sum + margin) * benignCost;
        if (index === top || error > LEAST_ERROR) move(passage, error, step);
      });
    }
    for (let at = 0; at < ALL_COUNT; at += 1) {
      const [weight, home] = [weights[at] as number, first[at] as number];
      weights[at] = home + (weight - home) * (1 - pull * 20);
    }
    if (epoch >= epochs * (1 - MEAN_OF_LAST)) mean.add({ bias, weights });
  }
  return mean.get();
}

/** Evenly spread below 2^32: the same for all passages of a step. */
function drawOf(feature: number, step: number): number {
  const mixed = Math.imul(feature ^ step, 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35) >>> 0;
}

/** One step's chances even out: the mean of many rounds judges unknown texts better than the last. */
function createMean(count: number) {
  const total = new Float64Array(count);
  let [bias, rounds] = [0, 0];
  return {
    add(round: Weights): void {
      for (let at = 0; at < count; at += 1) {
        total[at] = (total[at] as number) + (round.weights[at] as number);
      }
      bias += round.bias;
      rounds += 1;
    },
    get: (): Weights => ({ bias: bias / rounds, weights: total.map((sum) => sum / rounds) }),
  };
}

export function meanOf(models: readonly Weights[]): Weights {
  const mean = createMean(ALL_COUNT);
  for (const model of models) mean.add(model);
  return mean.get();
}

/** A passage's score before strictness. */
export function sumOf({ bias, weights }: Weights, { features, values }: Passage): number {
  let sum = bias;
  for (let at = 0; at < features.length; at += 1) {
    sum += (weights[features[at] as number] as number) * (values[at] as number);
  }
  return sum;
}

/** The most suspicious passage; of an attack's text, of those of the attack. */
export function findTop(
  passages: readonly Passage[],
  sums: readonly number[],
  isAttack: boolean,
): number {
  let top = -1;
  passages.forEach((passage, index) => {
    if (passage.isAttack !== isAttack) return;
    if (top < 0 || (sums[index] as number) > (sums[top] as number)) top = index;
  });
  return top;
}

function sigmoid(sum: number): number {
  return 1 / (1 + Math.exp(-sum));
}
