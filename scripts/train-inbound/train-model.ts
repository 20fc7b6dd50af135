import { createHash } from 'node:crypto';
import type { InboundClass } from '@governance/shared/detect/findings';
import { classFeatures } from '@governance/shared/detect/inbound/class-model';
import { conceptNumber } from '@governance/shared/detect/inbound/concepts';
import { type Examined, examineText } from '@governance/shared/detect/inbound/examine';
import type { Model } from '@governance/shared/detect/inbound/model';
import {
  FEATURE_COUNT,
  featureOf,
  featuresOf,
  isScored,
} from '@governance/shared/detect/inbound/scoring';
import {
  eachWording,
  NO_WORDING,
  shareOf,
  WORDING_COUNT,
} from '@governance/shared/detect/inbound/wording';
import { FIRST_BIAS, FIRST_WEIGHTS, fallOf, riseOf } from './first-weights.ts';
import { createRandom, type Random } from './random.ts';
import { type ClassedFeatures, trainClasses } from './train-classes.ts';

export interface TrainingText {
  readonly text: string;
  readonly kind: 'attack' | 'benign';
  /** Of an attack. */
  readonly class?: InboundClass;
  /** The attack itself, if ordinary sentences surround it. */
  readonly attack?: string;
  readonly isDescription?: boolean;
}

const EPOCHS = 8;
const RATE = 0.08;
/** How strongly weights are pulled back to the initial ones: a pair seen once proves little. */
const PULL = 0.0006;
/**
 * A false alarm costs more than a miss: hard benign texts are rarer here than in the real world.
 */
const BENIGN_COST = 3.5;
/**
 * The distance from 0 that training demands of a passage's score, as a reserve for unknown benign
 * texts.
 */
const MARGIN = 0.8;
const UNIT = 1 / 1000;
const ALL_COUNT = FEATURE_COUNT + WORDING_COUNT;
/** How far one wording's weight may rise and fall, so that no single word decides. */
const WORDING_RISE = 0.7;
const WORDING_FALL = 0.5;
const WORDING_UNIT = 1 / 128;
/** The share of a passage's wordings dropped at each step, so that the model relies on none. */
const LEFT_OUT = 0.2;
const DECODED = conceptNumber('decoded');

interface Passage {
  /** Concepts first, then wordings, starting at `FEATURE_COUNT`. */
  readonly features: Int32Array;
  /** The weight of each wording. */
  readonly share: number;
}

/**
 * The texts' passages as features; a text is a list of the passages that could contain a request.
 */
interface Bag {
  readonly passages: readonly Passage[];
  /** Features for the class of each passage, for attacks only; empty for decoded passages. */
  readonly classed: readonly (readonly number[])[];
  readonly class: InboundClass | undefined;
  readonly isAttack: boolean;
}

/**
 * One label for several passages: in an attack's text the most suspicious passage is the attack; in
 * a benign text none is. So each step adjusts that passage, and all benign ones above the margin.
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

  const sumOf = ({ features, share }: Passage) => {
    let [sum, wording] = [bias, 0];
    for (let at = 0; at < features.length; at += 1) {
      const feature = features[at] as number;
      if (feature < FEATURE_COUNT) sum += weights[feature] as number;
      else wording += weights[feature] as number;
    }
    return sum + wording * share;
  };
  const move = ({ features, share }: Passage, error: number) => {
    bias -= error * RATE * 0.1;
    for (let at = 0; at < features.length; at += 1) {
      const feature = features[at] as number;
      const weight = weights[feature] as number;
      const home = first[feature] as number;
      const slope = feature < FEATURE_COUNT ? error : error * share;
      const gradient = slope + PULL * (weight - home) * 10;
      const square = (squares[feature] as number) + gradient * gradient;
      squares[feature] = square;
      const moved = weight - (RATE * gradient) / Math.sqrt(square);
      const lowest = home - (falls[feature] as number);
      weights[feature] = Math.max(lowest, Math.min(moved, home + (rises[feature] as number)));
    }
  };
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    for (const { passages: whole, isAttack } of random.shuffle(bags)) {
      const passages = whole.map((passage) => leaveOut(passage, random));
      const sums = passages.map(sumOf);
      const top = sums.indexOf(Math.max(...sums));
      if (isAttack) move(passages[top] as Passage, sigmoid((sums[top] as number) - MARGIN) - 1);
      else {
        passages.forEach((passage, index) => {
          const error = sigmoid((sums[index] as number) + MARGIN) * BENIGN_COST;
          if (index === top || error > 0.2) move(passage, error);
        });
      }
    }
    for (let feature = 0; feature < ALL_COUNT; feature += 1) {
      const [weight, home] = [weights[feature] as number, first[feature] as number];
      weights[feature] = home + (weight - home) * (1 - PULL * 20);
    }
  }
  const classed = bags.flatMap((bag): ClassedFeatures[] => {
    const sums = bag.passages.map(sumOf);
    const features = bag.classed[sums.indexOf(Math.max(...sums))] ?? [];
    return bag.class === undefined || features.length === 0 ? [] : [{ features, class: bag.class }];
  });
  return {
    version: 3,
    seed,
    data_digest: digestTexts(texts),
    texts: texts.length,
    bias: Math.round(bias * 1000) / 1000,
    unit: UNIT,
    weights: encodeWeights(weights.subarray(0, FEATURE_COUNT)),
    wording_unit: WORDING_UNIT,
    wording: encodeWording(weights.subarray(FEATURE_COUNT)),
    classes: Buffer.from(trainClasses(classed, seed).buffer).toString('base64'),
  };
}

/** A part of a passage's wordings, and all of its concepts. */
function leaveOut({ features, share }: Passage, random: Random): Passage {
  const kept = features.filter((feature) => feature < FEATURE_COUNT || !random.chance(LEFT_OUT));
  return { features: kept, share };
}

/** SHA-256 (hex) of the texts, their kinds and classes, in order. */
export function digestTexts(texts: readonly TrainingText[]): string {
  const digest = createHash('sha256');
  for (const { text, kind, class: name } of texts) digest.update(`${kind}\0${name}\0${text}\0`);
  return digest.digest('hex');
}

function toBag({ text, kind, class: name, attack, isDescription }: TrainingText): Bag {
  const isAttack = kind === 'attack';
  const passages: Passage[] = [];
  const classed: number[][] = [];
  const place = attack === undefined ? undefined : placeOf(attack, text);
  for (const examined of examineText(
    text,
    isDescription ? 'tool_description' : 'result',
    undefined,
  )) {
    examined.passages.forEach((passage, index) => {
      if (!isScored(passage)) return;
      // An ordinary sentence beside an attack is not one, however suspicious it looks.
      if (place !== undefined && (passage.start >= place.end || passage.end <= place.start)) return;
      passages.push(allFeatures(examined, index));
      if (!isAttack) return;
      const isDecoded = passage.concepts.includes(DECODED);
      classed.push(isDecoded ? [] : classFeatures(examined.passages, index));
    });
  }
  return { passages, classed, class: name, isAttack };
}

/** Locates an attack in its text by its longest part that no carrier rewrites. */
function placeOf(attack: string, text: string): { start: number; end: number } | undefined {
  const parts = attack.split(/["\n\\]/);
  const part = parts.reduce((longest, one) => (one.length > longest.length ? one : longest), '');
  const at = text.indexOf(part);
  if (at < 0) return undefined;
  const start = Math.max(0, at - attack.indexOf(part));
  return { start, end: start + attack.length };
}

function allFeatures({ passages, topics }: Examined, index: number): Passage {
  const wording: number[] = [];
  eachWording(passages[index]?.wording ?? NO_WORDING, (feature) =>
    wording.push(FEATURE_COUNT + feature),
  );
  const features = Int32Array.from([...featuresOf(passages, index, topics), ...wording]);
  return { features, share: shareOf(wording.length) };
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
