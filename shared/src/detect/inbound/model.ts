import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { assetPath } from '../../process/assets.ts';
import { INBOUND_CLASSES } from '../findings.ts';
import { CLASS_FEATURES } from './class-model.ts';
import stored from './model.json' with { type: 'json' };
import { SEQUENCE_FILE, WORDING_FILE } from './model-parts.ts';
import { FEATURE_COUNT } from './scoring.ts';
import { EMBEDDING_COUNT, LAYERS_COUNT, type SequenceWeights } from './sequence.ts';
import { readWordGroups, type WordGroups } from './word-groups.ts';
import { WORDING_COUNT } from './wording.ts';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** model.json, written only by `npm run inbound:train`, like the two files. */
export const Model = z.strictObject({
  /** Incremented when the features change. */
  version: z.literal(7),
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
  /** Of `WORDING_FILE`: a signed byte for each hashed feature (wording.ts, pieces.ts, context.ts). */
  wording_sha256: Sha256,
  /** The value of one unit of an embedding, and of a weight of the layers (sequence.ts). */
  embedding_unit: z.number(),
  layer_unit: z.number(),
  /** Of `SEQUENCE_FILE`: a signed byte for each embedding, then 16 bits for each weight of the layers. */
  sequence_sha256: Sha256,
  /** Base64 of the words that belong to groups (word-groups.ts). */
  groups: z.string(),
  /** Base64 of a signed byte for each feature of each class (class-model.ts). */
  classes: z.string(),
});
export type Model = z.infer<typeof Model>;

const OTHER_FEATURES = 'model.json is for other features: npm run inbound:train';

export const model: Model = Model.parse(stored);
export const weights: Float32Array = readWeights(model);
export const wordingWeights: Int8Array = readBytes(
  readPart(WORDING_FILE, model.wording_sha256, WORDING_COUNT),
  WORDING_COUNT,
);
export const sequenceWeights: SequenceWeights = readSequenceWeights(model);
export const wordGroups: WordGroups = readWordGroups(model.groups);
export const classWeights: Int8Array = readBytes(
  Buffer.from(model.classes, 'base64'),
  INBOUND_CLASSES.length * CLASS_FEATURES,
);

/** @throws Error when the model was made for other features */
export function readWeights({ weights: base64, unit }: Model): Float32Array {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length !== FEATURE_COUNT * 2) {
    throw new Error(OTHER_FEATURES);
  }
  return Float32Array.from({ length: FEATURE_COUNT }, (_, at) => bytes.readInt16LE(at * 2) * unit);
}

function readSequenceWeights(model: Model): SequenceWeights {
  const count = EMBEDDING_COUNT + LAYERS_COUNT * 2;
  const bytes = readPart(SEQUENCE_FILE, model.sequence_sha256, count);
  if (bytes.length !== count) throw new Error(OTHER_FEATURES);
  return {
    embeddings: readBytes(bytes.subarray(0, EMBEDDING_COUNT), EMBEDDING_COUNT),
    unit: model.embedding_unit,
    layers: Float32Array.from(
      { length: LAYERS_COUNT },
      (_, at) => bytes.readInt16LE(EMBEDDING_COUNT + at * 2) * model.layer_unit,
    ),
  };
}

/** @throws Error when the file is missing, or is not the one that model.json was made with */
function readPart(path: string, sha256: string, most: number): Buffer {
  const compressed = readFileSync(assetPath(path));
  if (createHash('sha256').update(compressed).digest('hex') !== sha256) {
    throw new Error(`${path} does not belong to model.json: install the version again`);
  }
  return brotliDecompressSync(compressed, { maxOutputLength: most });
}

/** @throws Error when the model was made for other features */
function readBytes(bytes: Buffer, count: number): Int8Array {
  if (bytes.length !== count) {
    throw new Error(OTHER_FEATURES);
  }
  return Int8Array.from(bytes, (byte) => (byte << 24) >> 24);
}
