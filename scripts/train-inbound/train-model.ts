import { createHash } from 'node:crypto';
import { brotliCompressSync, constants } from 'node:zlib';
import type { Model } from '@governance/shared/detect/inbound/model';
import { FEATURE_COUNT } from '@governance/shared/detect/inbound/scoring';
import { readWordGroups } from '@governance/shared/detect/inbound/word-groups';
import { type Bag, toBag, toBags } from './bags.ts';
import { examplesOf } from './examples.ts';
import { digestReading } from './reading-digest.ts';
import type { SequenceNet } from './sequence-net.ts';
import { proseTexts } from './texts.ts';
import { type ClassedFeatures, trainClasses } from './train-classes.ts';
import { trainSequence } from './train-sequence.ts';
import {
  findTop,
  meanOf,
  sumOf,
  type Training,
  trainWeights,
  type Weights,
} from './train-weights.ts';
import { digestTexts, type TrainingText } from './training-text.ts';
import { windowExamplesOf } from './windows.ts';
import { timesOf, type WrittenText } from './written-texts.ts';

/** Of the generated texts: many, each in many forms, so few rounds. */
const GENERATED: Training = {
  epochs: 8,
  rate: 0.08,
  pull: 0.0006,
  benignCost: 3.5,
  otherPassages: 0,
  margin: 0.8,
  leftOut: 0.2,
};
const WRITTEN: Training = {
  epochs: 40,
  rate: 0.08,
  pull: 0.00003,
  benignCost: 3.5,
  otherPassages: 0.25,
  margin: 2,
  leftOut: 0.45,
};
/** One generated text in so many is among the written ones: with more, their templates decide. */
const FEW_OF = 5;
/** The mean of so many models, each beside other generated texts, judges unknown texts better. */
const MODELS = 3;
/** The share of a model of the generated texts alone: it knows the bluntest attacks best. */
const GENERATED_SHARE = 0.12;
const UNIT = 1 / 1000;
const WORDING_UNIT = 1 / 28;
/** Smaller weights, in units, are left out: together they decide nothing, and fill the file. */
const LEAST_UNITS = 2;
/** How much a generated text counts for the reader of sequences. */
const GENERATED_WORTH = 0.5;
const EMBEDDING_UNIT = 1 / 24;
const LAYER_UNIT = 1 / 1000;

/**
 * Added to each score: the threshold between attacks found and false alarms, chosen by the totals in
 * docs/inbound-measurements.md.
 */
export const EASE = -8.3;

export interface TrainedModel {
  readonly model: Model;
  /** The contents of the two files beside model.json. */
  readonly wording: Buffer;
  readonly sequence: Buffer;
}

/** @param groups as model.json holds them */
export function trainModel(
  generated: readonly TrainingText[],
  written: readonly WrittenText[],
  groups: string,
  seed: number,
): TrainedModel {
  const known = readWordGroups(groups);
  const manyBags = toBags(generated, known);
  const counted = written
    .map((text) => ({ text, bag: toBag(text, known), times: timesOf(text) }))
    .filter(({ bag }) => bag.passages.length > 0);
  const writtenBags = counted.flatMap(({ bag, times }) => Array.from({ length: times }, () => bag));
  const fewBags = toBags(besideWritten(generated, 0), known);
  const parts = Array.from({ length: MODELS }, (_, part) =>
    trainPart(
      writtenBags,
      part === 0 ? fewBags : toBags(besideWritten(generated, part), known),
      seed + part,
    ),
  );
  const linear = withGenerated(trainGenerated(manyBags, seed), meanOf(parts));
  const classed = [...manyBags, ...writtenBags].flatMap((bag) => classedOf(bag, linear));
  const wording = encodeWording(linear.weights.subarray(FEATURE_COUNT));
  const examples = [
    ...counted.flatMap(({ text, bag, times }) => [
      ...examplesOf(bag, times),
      ...windowExamplesOf(text, times),
    ]),
    ...fewBags.flatMap((bag) => examplesOf(bag, GENERATED_WORTH)),
  ];
  const sequence = encodeNet(trainSequence(examples, seed));
  const model: Model = {
    version: 7,
    seed,
    data_digest: digestTexts([...generated, ...written]),
    reading_digest: digestReading([...generated, ...written], known),
    texts: generated.length + written.length,
    bias: Math.round((linear.bias + EASE) * 1000) / 1000,
    unit: UNIT,
    weights: encodeWeights(linear.weights.subarray(0, FEATURE_COUNT)).toString('base64'),
    wording_unit: WORDING_UNIT,
    wording_sha256: sha256(wording),
    embedding_unit: EMBEDDING_UNIT,
    layer_unit: LAYER_UNIT,
    sequence_sha256: sha256(sequence),
    groups,
    classes: Buffer.from(trainClasses(classed, seed).buffer).toString('base64'),
  };
  return { model, wording, sequence };
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export const trainGenerated = (generated: readonly Bag[], seed: number): Weights =>
  trainWeights(generated, GENERATED, seed);

/** One of the models whose mean knows the written texts. */
export const trainPart = (written: readonly Bag[], beside: readonly Bag[], seed: number): Weights =>
  trainWeights([...written, ...beside], WRITTEN, seed);

/** A mixture of linear models is a linear model. */
export function withGenerated(generated: Weights, written: Weights): Weights {
  const between = (one: number, other: number) => other + (one - other) * GENERATED_SHARE;
  return {
    bias: between(generated.bias, written.bias),
    weights: written.weights.map((weight, at) => between(generated.weights[at] as number, weight)),
  };
}

/**
 * What the written texts lack: the bluntest attacks, and the prose of technical documents.
 *
 * @param part from 0: which of the parts of the generated texts
 */
export function besideWritten(generated: readonly TrainingText[], part: number): TrainingText[] {
  return [...generated.filter((_text, index) => index % FEW_OF === part), ...proseTexts(1)];
}

function classedOf({ passages, class: name, isAttack }: Bag, model: Weights): ClassedFeatures[] {
  const sums = passages.map((passage) => sumOf(model, passage));
  const features = passages[findTop(passages, sums, isAttack)]?.classed ?? [];
  return name === undefined || features.length === 0 ? [] : [{ features, class: name }];
}

function encodeWording(weights: Float64Array): Buffer {
  const units = Int8Array.from(weights, (weight) => {
    const rounded = Math.round(weight / WORDING_UNIT);
    return Math.abs(rounded) < LEAST_UNITS ? 0 : Math.max(-128, Math.min(127, rounded));
  });
  return compress(units);
}

function encodeNet({ embeddings, layers }: SequenceNet): Buffer {
  const rows = Int8Array.from(embeddings, (weight) =>
    Math.max(-128, Math.min(127, Math.round(weight / EMBEDDING_UNIT))),
  );
  return compress(Buffer.concat([Buffer.from(rows.buffer), encodeWeights(layers, LAYER_UNIT)]));
}

function compress(bytes: Uint8Array | Int8Array): Buffer {
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  return brotliCompressSync(bytes, { params });
}

function encodeWeights(weights: Float64Array | Float32Array, unit = UNIT): Buffer {
  const bytes = Buffer.alloc(weights.length * 2);
  weights.forEach((weight, at) => {
    const units = Math.round(weight / unit);
    bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, units)), at * 2);
  });
  return bytes;
}
