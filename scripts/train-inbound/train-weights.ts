/**
 * A logistic regression over the passages of texts (AdaGrad, one passage at a time). Weights start
 * from those set by hand, and move away only as far as the texts demand and the limits of
 * first-weights.ts allow.
 */
import { FEATURE_COUNT, featureOf } from '@governance/shared/detect/inbound/scoring';
import { WORDING_COUNT } from '@governance/shared/detect/inbound/wording';
import type { Bag, Passage } from './bags.ts';
import { FIRST_BIAS, FIRST_WEIGHTS, fallOf, riseOf } from './first-weights.ts';
import { createRandom } from './random.ts';

const ALL_COUNT = FEATURE_COUNT + WORDING_COUNT;
/** How far a hashed feature's weight may rise and fall, so that no single word decides. */
const WORDING_RISE = 0.7;
const WORDING_FALL = 0.5;
/** Below this error a passage teaches nothing. */
const LEAST_ERROR = 0.2;

export interface Training {
  readonly epochs: number;
  readonly rate: number;
  /** How strongly weights are pulled back to the initial ones: a pair seen once proves little. */
  readonly pull: number;
  /** A false alarm costs more than a miss: hard benign texts are rarer here than in the world. */
  readonly benignCost: number;
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
 * Several passages of an attack may be its own: each step moves the most suspicious of them. Of
 * ordinary passages it moves every suspicious one, and the most suspicious of an ordinary text.
 */
export function trainWeights(bags: readonly Bag[], training: Training, seed: number): Weights {
  const { epochs, rate, pull, benignCost, margin, leftOut } = training;
  const first = new Float64Array(ALL_COUNT);
  for (const [name, weight] of Object.entries(FIRST_WEIGHTS)) first[featureOf(name)] = weight;
  const weights = Float64Array.from(first);
  const squares = new Float64Array(ALL_COUNT).fill(0.2);
  const highest = first.map((home, at) => home + (at < FEATURE_COUNT ? riseOf(at) : WORDING_RISE));
  const lowest = first.map((home, at) => home - (at < FEATURE_COUNT ? fallOf(at) : WORDING_FALL));
  let bias = FIRST_BIAS;
  const random = createRandom(seed);

  const move = ({ features, wordings, context, share, contextShare }: Passage, error: number) => {
    bias -= error * rate * 0.1;
    for (let at = 0; at < features.length; at += 1) {
      const feature = features[at] as number;
      // Left out.
      if (feature < 0) continue;
      const weight = weights[feature] as number;
      const slope = at < wordings ? error : error * (at < context ? share : contextShare);
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
  /** A part of a passage's hashed features, and all of its concepts. */
  const leaveOut = (passage: Passage): Passage => ({
    ...passage,
    features: passage.features.map((feature, at) =>
      at >= passage.wordings && random.chance(leftOut) ? -1 : feature,
    ),
  });

  for (let epoch = 0; epoch < epochs; epoch += 1) {
    for (const bag of random.shuffle(bags)) {
      const passages = bag.passages.map(leaveOut);
      const sums = passages.map((passage) => sumOf({ bias, weights }, passage));
      const top = findTop(passages, sums, bag.isAttack);
      passages.forEach((passage, index) => {
        const sum = sums[index] as number;
        if (passage.isAttack) {
          if (index === top) move(passage, sigmoid(sum - margin) - 1);
          return;
        }
        const error = sigmoid(sum + margin) * benignCost;
        if (index === top || error > LEAST_ERROR) move(passage, error);
      });
    }
    for (let at = 0; at < ALL_COUNT; at += 1) {
      const [weight, home] = [weights[at] as number, first[at] as number];
      weights[at] = home + (weight - home) * (1 - pull * 20);
    }
  }
  return { bias, weights };
}

/** A passage's score before strictness. */
export function sumOf({ bias, weights }: Weights, passage: Passage): number {
  const { features, wordings, context, share, contextShare } = passage;
  let [concepts, wording, around] = [0, 0, 0];
  for (let at = 0; at < features.length; at += 1) {
    const feature = features[at] as number;
    if (feature < 0) continue;
    const weight = weights[feature] as number;
    if (at < wordings) concepts += weight;
    else if (at < context) wording += weight;
    else around += weight;
  }
  return bias + concepts + wording * share + around * contextShare;
}

/** The written model's share of the mean: most of what decides, since it generalises better. */
const WRITTEN_SHARE = 0.7;

/** The weighted mean of two linear models is one: what both learned stays, the rest counts in part. */
export function meanOf(generated: Weights, written: Weights): Weights {
  const between = (one: number, other: number) => one + (other - one) * WRITTEN_SHARE;
  return {
    bias: between(generated.bias, written.bias),
    weights: generated.weights.map((weight, at) => between(weight, written.weights[at] as number)),
  };
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
