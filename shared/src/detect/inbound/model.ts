import { brotliDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { INBOUND_CLASSES } from '../findings.ts';
import { CLASS_FEATURES } from './class-model.ts';
import stored from './model.json' with { type: 'json' };
import { FEATURE_COUNT } from './scoring.ts';
import { readWordGroups, type WordGroups } from './word-groups.ts';
import { WORDING_COUNT } from './wording.ts';

/** model.json, written only by `npm run inbound:train`. */
export const Model = z.strictObject({
  /** Incremented when the features change. */
  version: z.literal(6),
  seed: z.int(),
  /** SHA-256 (hex) of the training texts, in order. */
  data_digest: z.string(),
  /** SHA-256 (hex) of the features of some of them, as the detector read them then. */
  reading_digest: z.string(),
  texts: z.int(),
  /** A passage whose sum of weights is above 0 counts as an injection. */
  bias: z.number(),
  /** The value of one unit of a stored weight. */
  unit: z.number(),
  /** Base64 of signed 16-bit numbers, low byte first. */
  weights: z.string(),
  /** The value of one unit of a wording's weight. */
  wording_unit: z.number(),
  /** Base64 of Brotli of a signed byte for each hashed feature (wording.ts, pieces.ts, context.ts). */
  wording: z.string(),
  /** Base64 of the words that belong to groups (word-groups.ts). */
  groups: z.string(),
  /** Base64 of a signed byte for each feature of each class (class-model.ts). */
  classes: z.string(),
});
export type Model = z.infer<typeof Model>;

export const model: Model = Model.parse(stored);
export const weights: Float32Array = readWeights(model);
export const wordingWeights: Int8Array = readBytes(
  brotliDecompressSync(Buffer.from(model.wording, 'base64'), { maxOutputLength: WORDING_COUNT }),
  WORDING_COUNT,
);
export const wordGroups: WordGroups = readWordGroups(model.groups);
export const classWeights: Int8Array = readBytes(
  Buffer.from(model.classes, 'base64'),
  INBOUND_CLASSES.length * CLASS_FEATURES,
);

/** @throws Error when the model was made for other features */
export function readWeights({ weights: base64, unit }: Model): Float32Array {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length !== FEATURE_COUNT * 2) {
    throw new Error('model.json is for other features: npm run inbound:train');
  }
  return Float32Array.from({ length: FEATURE_COUNT }, (_, at) => bytes.readInt16LE(at * 2) * unit);
}

/** @throws Error when the model was made for other features */
function readBytes(bytes: Buffer, count: number): Int8Array {
  if (bytes.length !== count) {
    throw new Error('model.json is for other features: npm run inbound:train');
  }
  return Int8Array.from(bytes, (byte) => (byte << 24) >> 24);
}
