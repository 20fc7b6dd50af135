/**
 * Reads a passage's tokens in their order: two layers of convolutions over rows of three tokens, the
 * most that each of their channels saw, the tokens' mean, the concepts of the passage and of its text,
 * and one hidden layer. It tells who does what to whom, which a sum over words cannot. Only passages
 * that could be findings are read, since it costs a hundred times as much as such a sum.
 * Trained by `npm run inbound:train` (scripts/train-inbound/train-sequence.ts).
 */
import { CONCEPTS } from './concepts.ts';
import { MAX_TOKENS, ROWS_OF_TOKEN, readTokens, TOKEN_ROWS, tokens } from './tokens.ts';

/** Numbers that stand for a token. */
export const WIDTH = 16;
/** Channels of each layer of convolutions. */
export const CHANNELS = 32;
export const HIDDEN = 32;
/** Tokens that a channel of the first layer sees. */
export const SEEN = 3;
/** The second layer sees the first at places this far apart. */
export const STRIDE = 2;
/** The passage's concepts, and those of its text. */
export const SIGNS = 2 * CONCEPTS.length;
/** What the hidden layer reads: channels of both layers, the mean of the tokens, the signs. */
export const POOLED = 2 * CHANNELS + WIDTH;
export const INPUTS = POOLED + SIGNS;

export const EMBEDDING_COUNT = ROWS_OF_TOKEN * TOKEN_ROWS * WIDTH;

const [FIRST, SECOND] = [SEEN * WIDTH * CHANNELS, SEEN * CHANNELS * CHANNELS];
/** Where the weights of each layer begin. */
export const OFFSETS = {
  first: 0,
  firstBias: FIRST,
  second: FIRST + CHANNELS,
  secondBias: FIRST + CHANNELS + SECOND,
  hidden: FIRST + CHANNELS + SECOND + CHANNELS,
  hiddenBias: FIRST + CHANNELS + SECOND + CHANNELS + INPUTS * HIDDEN,
  last: FIRST + CHANNELS + SECOND + CHANNELS + INPUTS * HIDDEN + HIDDEN,
} as const;
/** With the bias of the last layer. */
export const LAYERS_COUNT = OFFSETS.last + HIDDEN + 1;

export interface SequenceWeights {
  /** `WIDTH` for each number of a token, in units of `unit`. */
  readonly embeddings: Int8Array;
  readonly unit: number;
  /** By `OFFSETS`: of the convolutions by channel, then place and input; of the hidden layer by input. */
  readonly layers: Float32Array;
}

interface Place {
  readonly start: number;
  readonly end: number;
  readonly concepts: readonly number[];
}

/** Room before and after the tokens, so that their borders need no rule of their own. */
const ROOM = STRIDE;
const embedded = new Float32Array((MAX_TOKENS + 2 * ROOM) * WIDTH);
const seen = new Float32Array((MAX_TOKENS + 2 * ROOM) * CHANNELS);
const pooled = new Float32Array(POOLED);
const hidden = new Float32Array(HIDDEN);

const isIn = new Uint8Array(CONCEPTS.length);

/** The concepts of all passages of a text, each once. */
export function conceptsOf(passages: readonly Pick<Place, 'concepts'>[]): readonly number[] {
  isIn.fill(0);
  const all: number[] = [];
  for (const { concepts } of passages) {
    for (const concept of concepts) {
      if (isIn[concept] === 1) continue;
      isIn[concept] = 1;
      all.push(concept);
    }
  }
  return all;
}

/** What the hidden layer reads beside the tokens: numbers from 0 below `SIGNS`. */
export const signsOf = (concepts: readonly number[], ofText: readonly number[]): number[] => [
  ...concepts,
  ...ofText.map((concept) => CONCEPTS.length + concept),
];

/**
 * The log-odds that a passage is an attack, by the order of its words.
 *
 * @param ofText the concepts of all passages of its text
 */
export function readSequence(
  { embeddings, unit, layers }: SequenceWeights,
  text: string,
  passage: Place,
  ofText: readonly number[],
): number {
  const count = readTokens(text, passage.start, passage.end);
  pooled.fill(0);
  embed(embeddings, unit, count);
  convolveFirst(layers, count);
  convolveSecond(layers, count);
  hidden.set(layers.subarray(OFFSETS.hiddenBias, OFFSETS.hiddenBias + HIDDEN));
  for (let at = 0; at < POOLED; at += 1) addInput(layers, at, pooled[at] as number);
  for (const sign of signsOf(passage.concepts, ofText)) addInput(layers, POOLED + sign, 1);
  let sum = layers[OFFSETS.last + HIDDEN] as number;
  for (let at = 0; at < HIDDEN; at += 1) {
    sum += Math.max(0, hidden[at] as number) * (layers[OFFSETS.last + at] as number);
  }
  return sum;
}

function embed(embeddings: Int8Array, unit: number, count: number): void {
  embedded.fill(0, 0, (count + 2 * ROOM) * WIDTH);
  for (let token = 0; token < count; token += 1) {
    const to = (token + ROOM) * WIDTH;
    for (let which = 0; which < ROWS_OF_TOKEN; which += 1) {
      const row = tokens[token * ROWS_OF_TOKEN + which] as number;
      if (row === 0) continue;
      const from = (which * TOKEN_ROWS + row - 1) * WIDTH;
      for (let at = 0; at < WIDTH; at += 1) {
        embedded[to + at] =
          (embedded[to + at] as number) + (embeddings[from + at] as number) * unit;
      }
    }
    for (let at = 0; at < WIDTH; at += 1) {
      pooled[2 * CHANNELS + at] =
        (pooled[2 * CHANNELS + at] as number) + (embedded[to + at] as number);
    }
  }
  const share = 1 / Math.sqrt(1 + count);
  for (let at = 2 * CHANNELS; at < POOLED; at += 1) pooled[at] = (pooled[at] as number) * share;
}

function convolveFirst(layers: Float32Array, count: number): void {
  seen.fill(0, 0, (count + 2 * ROOM) * CHANNELS);
  for (let token = 0; token < count; token += 1) {
    const from = (token + ROOM - 1) * WIDTH;
    for (let channel = 0; channel < CHANNELS; channel += 1) {
      let sum = layers[OFFSETS.firstBias + channel] as number;
      const weights = OFFSETS.first + channel * SEEN * WIDTH;
      for (let at = 0; at < SEEN * WIDTH; at += 1) {
        sum += (embedded[from + at] as number) * (layers[weights + at] as number);
      }
      if (sum <= 0) continue;
      seen[(token + ROOM) * CHANNELS + channel] = sum;
      if (sum > (pooled[channel] as number)) pooled[channel] = sum;
    }
  }
}

function convolveSecond(layers: Float32Array, count: number): void {
  for (let token = 0; token < count; token += 1) {
    for (let channel = 0; channel < CHANNELS; channel += 1) {
      let sum = layers[OFFSETS.secondBias + channel] as number;
      let weights = OFFSETS.second + channel * SEEN * CHANNELS;
      for (let place = 0; place < SEEN; place += 1) {
        const from = (token + place * STRIDE) * CHANNELS;
        for (let at = 0; at < CHANNELS; at += 1) {
          sum += (seen[from + at] as number) * (layers[weights + at] as number);
        }
        weights += CHANNELS;
      }
      if (sum > (pooled[CHANNELS + channel] as number)) pooled[CHANNELS + channel] = sum;
    }
  }
}

function addInput(layers: Float32Array, input: number, value: number): void {
  if (value === 0) return;
  const weights = OFFSETS.hidden + input * HIDDEN;
  for (let at = 0; at < HIDDEN; at += 1) {
    hidden[at] = (hidden[at] as number) + value * (layers[weights + at] as number);
  }
}
