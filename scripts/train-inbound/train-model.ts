import { createHash } from 'node:crypto';
import { type Examined, examineText } from '@governance/shared/detect/inbound/examine';
import type { Model } from '@governance/shared/detect/inbound/model';
import {
  FEATURE_COUNT,
  featureOf,
  featuresOf,
  isScored,
} from '@governance/shared/detect/inbound/scoring';
import { eachWording, WORDING_COUNT } from '@governance/shared/detect/inbound/wording';
import { FIRST_BIAS, FIRST_WEIGHTS, fallOf, riseOf } from './first-weights.ts';
import { createRandom } from './random.ts';

export interface TrainingText {
  readonly text: string;
  readonly kind: 'attack' | 'benign';
  readonly isDescription?: boolean;
}

const EPOCHS = 20;
const RATE = 0.08;
/** How strongly weights are drawn back to the first ones: a pair seen once proves little. */
const PULL = 0.0006;
/** A false alarm costs more than a miss: hard benign texts are rarer here than in the world. */
const BENIGN_COST = 2.5;
/** What a passage must be worth more than 0: the margin that unknown benign texts have. */
const MARGIN = 0.7;
const UNIT = 1 / 1000;
const ALL_COUNT = FEATURE_COUNT + WORDING_COUNT;
/** How far one wording's weight may rise and fall: no single word decides. */
const WORDING_RISE = 0.15;
const WORDING_FALL = 0.5;
const WORDING_UNIT = 1 / 128;

/** The texts' passages as features; a text is a list of those that could ask for something. */
type Bag = { readonly passages: readonly (readonly number[])[]; readonly isAttack: boolean };

/**
 * Several passages, one label: of an attack's text the most suspicious passage is the attack, of
 * a benign text none is. So each step moves that one, and all of the benign ones above the margin.
 */
export function trainModel(texts: readonly TrainingText[], seed: number): Model {
  const bags = texts.map(toBag).filter(({ passages }) => passages.length > 0);
  const first = new Float64Array(ALL_COUNT);
  for (const [name, weight] of Object.entries(FIRST_WEIGHTS)) first[featureOf(name)] = weight;
  const weights = Float64Array.from(first);
  const squares = new Float64Array(ALL_COUNT).fill(0.2);
  const rises = Float64Array.from({ length: ALL_COUNT }, (_, feature) =>
    feature < FEATURE_COUNT ? riseOf(feature) : WORDING_RISE,
  );
  const falls = Float64Array.from({ length: ALL_COUNT }, (_, feature) =>
    feature < FEATURE_COUNT ? fallOf(feature) : WORDING_FALL,
  );
  let bias = FIRST_BIAS;
  const random = createRandom(seed);

  const sumOf = (features: readonly number[]) => {
    let sum = bias;
    for (const feature of features) sum += weights[feature] as number;
    return sum;
  };
  const move = (features: readonly number[], error: number) => {
    bias -= error * RATE * 0.1;
    for (const feature of features) {
      const weight = weights[feature] as number;
      const gradient = error + PULL * (weight - (first[feature] as number)) * 10;
      squares[feature] = (squares[feature] as number) + gradient * gradient;
      const moved = weight - (RATE * gradient) / Math.sqrt(squares[feature] as number);
      const home = first[feature] as number;
      const highest = home + (rises[feature] as number);
      weights[feature] = Math.max(home - (falls[feature] as number), Math.min(moved, highest));
    }
  };
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    for (const { passages, isAttack } of random.shuffle(bags)) {
      const sums = passages.map(sumOf);
      const top = sums.indexOf(Math.max(...sums));
      if (isAttack) move(passages[top] as number[], sigmoid((sums[top] as number) - MARGIN) - 1);
      else {
        passages.forEach((features, index) => {
          const error = sigmoid((sums[index] as number) + MARGIN) * BENIGN_COST;
          if (index === top || error > 0.2) move(features, error);
        });
      }
    }
    for (let feature = 0; feature < ALL_COUNT; feature += 1) {
      const [weight, home] = [weights[feature] as number, first[feature] as number];
      weights[feature] = home + (weight - home) * (1 - PULL * 20);
    }
  }
  return {
    version: 2,
    seed,
    data_digest: digestTexts(texts),
    texts: texts.length,
    bias: Math.round(bias * 1000) / 1000,
    unit: UNIT,
    weights: encodeWeights(weights.subarray(0, FEATURE_COUNT)),
    wording_unit: WORDING_UNIT,
    wording: encodeWording(weights.subarray(FEATURE_COUNT)),
  };
}

/** SHA-256 (hex) of the texts and their kinds, in order. */
export function digestTexts(texts: readonly TrainingText[]): string {
  const digest = createHash('sha256');
  for (const { text, kind } of texts) digest.update(`${kind}\0${text}\0`);
  return digest.digest('hex');
}

function toBag({ text, kind, isDescription }: TrainingText): Bag {
  const passages = examineText(
    text,
    isDescription ? 'tool_description' : 'result',
    undefined,
  ).flatMap((examined) =>
    examined.passages.flatMap((passage, index) =>
      isScored(passage) ? [allFeatures(examined, index)] : [],
    ),
  );
  return { passages, isAttack: kind === 'attack' };
}

/** Concepts first, then wordings. */
function allFeatures({ passages, topics }: Examined, index: number): number[] {
  const wording: number[] = [];
  eachWording(passages[index]?.wording ?? [], (feature) => wording.push(FEATURE_COUNT + feature));
  return [...featuresOf(passages, index, topics), ...wording];
}

function encodeWording(weights: Float64Array): string {
  const units = Int8Array.from(weights, (weight) =>
    Math.max(-128, Math.min(127, Math.round(weight / WORDING_UNIT))),
  );
  return Buffer.from(units.buffer).toString('base64');
}

function encodeWeights(weights: Float64Array): string {
  const bytes = Buffer.alloc(weights.length * 2);
  weights.forEach((weight, at) => {
    const units = Math.round(weight / UNIT);
    bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, units)), at * 2);
  });
  return bytes.toString('base64');
}

function sigmoid(sum: number): number {
  return 1 / (1 + Math.exp(-sum));
}
