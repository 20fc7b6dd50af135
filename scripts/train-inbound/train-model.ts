import { brotliCompressSync, constants } from 'node:zlib';
import type { Model } from '@governance/shared/detect/inbound/model';
import { FEATURE_COUNT } from '@governance/shared/detect/inbound/scoring';
import { readWordGroups } from '@governance/shared/detect/inbound/word-groups';
import { type Bag, digestReading, toBags } from './bags.ts';
import { proseTexts } from './texts.ts';
import { type ClassedFeatures, trainClasses } from './train-classes.ts';
import {
  findTop,
  meanOf,
  sumOf,
  type Training,
  trainWeights,
  type Weights,
} from './train-weights.ts';
import { digestTexts, type TrainingText } from './training-text.ts';
import { type WrittenText, weighted } from './written-texts.ts';

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
const WORDING_UNIT = 1 / 34;
/** Smaller weights, in units, are left out: together they decide nothing, and fill the file. */
const LEAST_UNITS = 2;

/**
 * Added to each score: the threshold between attacks found and false alarms, chosen by the totals in
 * docs/inbound-measurements.md.
 */
export const EASE = -4.6;

/** @param groups as model.json holds them */
export function trainModel(
  generated: readonly TrainingText[],
  written: readonly WrittenText[],
  groups: string,
  seed: number,
): Model {
  const known = readWordGroups(groups);
  const manyBags = toBags(generated, known);
  const writtenBags = toBags(weighted(written), known);
  const parts = Array.from({ length: MODELS }, (_, part) =>
    trainPart(writtenBags, toBags(besideWritten(generated, part), known), seed + part),
  );
  const model = withGenerated(trainGenerated(manyBags, seed), meanOf(parts));
  const classed = [...manyBags, ...writtenBags].flatMap((bag) => classedOf(bag, model));
  return {
    version: 6,
    seed,
    data_digest: digestTexts([...generated, ...written]),
    reading_digest: digestReading([...generated, ...written], known),
    texts: generated.length + written.length,
    bias: Math.round((model.bias + EASE) * 1000) / 1000,
    unit: UNIT,
    weights: encodeWeights(model.weights.subarray(0, FEATURE_COUNT)),
    wording_unit: WORDING_UNIT,
    wording: encodeWording(model.weights.subarray(FEATURE_COUNT)),
    groups,
    classes: Buffer.from(trainClasses(classed, seed).buffer).toString('base64'),
  };
}

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

function encodeWording(weights: Float64Array): string {
  const units = Int8Array.from(weights, (weight) => {
    const rounded = Math.round(weight / WORDING_UNIT);
    return Math.abs(rounded) < LEAST_UNITS ? 0 : Math.max(-128, Math.min(127, rounded));
  });
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  return brotliCompressSync(units, { params }).toString('base64');
}

function encodeWeights(weights: Float64Array): string {
  const bytes = Buffer.alloc(weights.length * 2);
  weights.forEach((weight, at) => {
    const units = Math.round(weight / UNIT);
    bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, units)), at * 2);
  });
  return bytes.toString('base64');
}
