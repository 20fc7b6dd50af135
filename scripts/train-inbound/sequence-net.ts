/**
 * The network of shared/src/detect/inbound/sequence.ts for its training: the same sums, with what is
 * needed to correct the weights afterwards. A test holds the two together.
 */
import {
  CHANNELS,
  EMBEDDING_COUNT,
  HIDDEN,
  INPUTS,
  LAYERS_COUNT,
  OFFSETS,
  POOLED,
  SEEN,
  STRIDE,
  WIDTH,
} from '@governance/shared/detect/inbound/sequence';
import { MAX_TOKENS, ROWS_OF_TOKEN, TOKEN_ROWS } from '@governance/shared/detect/inbound/tokens';
import type { Random } from './random.ts';

const ROOM = STRIDE;
const PLACES = MAX_TOKENS + 2 * ROOM;
/** The share of a token's numbers, and of the hidden layer's inputs, that are dropped at each step. */
const TOKENS_LEFT_OUT = 0.15;
const INPUTS_LEFT_OUT = 0.3;

/** What the network reads of a passage. */
export interface Sequence {
  readonly tokens: Uint16Array;
  /** Numbers from 0 below `SIGNS`. */
  readonly signs: readonly number[];
}

export interface Gradients {
  readonly embeddings: Float32Array;
  /** The rows of `embeddings` that have any, in order of first use. */
  readonly rows: number[];
  readonly layers: Float32Array;
}

export const emptyGradients = (): Gradients => ({
  embeddings: new Float32Array(EMBEDDING_COUNT),
  rows: [],
  layers: new Float32Array(LAYERS_COUNT),
});

/** One network for one training: its buffers hold the passage that `forward` read last. */
export class SequenceNet {
  readonly embeddings: Float32Array;
  readonly layers: Float32Array;
  readonly #embedded = new Float32Array(PLACES * WIDTH);
  readonly #seen = new Float32Array(PLACES * CHANNELS);
  readonly #towardsEmbedded = new Float32Array(PLACES * WIDTH);
  readonly #towardsSeen = new Float32Array(PLACES * CHANNELS);
  readonly #rows = new Int32Array(MAX_TOKENS * ROWS_OF_TOKEN);
  /** Where each channel of both layers saw most; -1 where it saw nothing. */
  readonly #best = new Int32Array(2 * CHANNELS);
  readonly #inputs = new Float32Array(INPUTS);
  readonly #scales = new Float32Array(INPUTS);
  readonly #hidden = new Float32Array(HIDDEN);
  readonly #used: number[] = [];
  readonly #rowUsed = new Uint8Array(ROWS_OF_TOKEN * TOKEN_ROWS);
  #count = 0;

  constructor(random: Random) {
    const normal = (count: number, deviation: number) =>
      Float32Array.from({ length: count }, () => normalOf(random) * deviation);
    this.embeddings = normal(EMBEDDING_COUNT, 0.1);
    this.layers = new Float32Array(LAYERS_COUNT);
    const { layers } = this;
    layers.set(normal(OFFSETS.firstBias, Math.sqrt(2 / (SEEN * WIDTH))), OFFSETS.first);
    layers.set(
      normal(OFFSETS.secondBias - OFFSETS.second, Math.sqrt(2 / (SEEN * CHANNELS))),
      OFFSETS.second,
    );
    layers.set(normal(INPUTS * HIDDEN, Math.sqrt(2 / (SEEN * CHANNELS))), OFFSETS.hidden);
    layers.set(normal(HIDDEN, 0.1), OFFSETS.last);
  }

  /** @param random drops parts of the passage, for training */
  forward({ tokens, signs }: Sequence, random?: Random): number {
    this.#embed(tokens, random);
    this.#convolveFirst();
    this.#convolveSecond();
    const { layers } = this;
    const inputs = this.#inputs;
    const used = this.#used;
    used.length = 0;
    for (let at = 0; at < POOLED; at += 1) if (inputs[at] !== 0) used.push(at);
    for (const sign of signs) {
      inputs[POOLED + sign] = 1;
      used.push(POOLED + sign);
    }
    const hidden = this.#hidden;
    hidden.set(layers.subarray(OFFSETS.hiddenBias, OFFSETS.hiddenBias + HIDDEN));
    for (const input of used) {
      const isKept = random === undefined || !random.chance(INPUTS_LEFT_OUT);
      const scale = random === undefined ? 1 : isKept ? 1 / (1 - INPUTS_LEFT_OUT) : 0;
      this.#scales[input] = scale;
      if (scale === 0) continue;
      const value = (inputs[input] as number) * scale;
      const weights = OFFSETS.hidden + input * HIDDEN;
      for (let at = 0; at < HIDDEN; at += 1) {
        hidden[at] = (hidden[at] as number) + value * (layers[weights + at] as number);
      }
    }
    let sum = layers[OFFSETS.last + HIDDEN] as number;
    for (let at = 0; at < HIDDEN; at += 1) {
      sum += Math.max(0, hidden[at] as number) * (layers[OFFSETS.last + at] as number);
    }
    return sum;
  }

  /** @param error of the sum that `forward` returned last */
  backward(error: number, gradients: Gradients): void {
    const { layers } = this;
    const { layers: slopes } = gradients;
    const hidden = this.#hidden;
    const towards = this.#towardsSeen.fill(0);
    const towardsEmbedded = this.#towardsEmbedded.fill(0);
    const towardsMean = new Float32Array(WIDTH);
    const back = new Float32Array(HIDDEN);
    slopes[OFFSETS.last + HIDDEN] = (slopes[OFFSETS.last + HIDDEN] as number) + error;
    for (let at = 0; at < HIDDEN; at += 1) {
      const value = hidden[at] as number;
      if (value <= 0) continue;
      slopes[OFFSETS.last + at] = (slopes[OFFSETS.last + at] as number) + error * value;
      back[at] = error * (layers[OFFSETS.last + at] as number);
      slopes[OFFSETS.hiddenBias + at] =
        (slopes[OFFSETS.hiddenBias + at] as number) + (back[at] as number);
    }
    const second: { channel: number; slope: number }[] = [];
    for (const input of this.#used) {
      const scale = this.#scales[input] as number;
      if (scale === 0) continue;
      const value = (this.#inputs[input] as number) * scale;
      const weights = OFFSETS.hidden + input * HIDDEN;
      let slope = 0;
      for (let at = 0; at < HIDDEN; at += 1) {
        const one = back[at] as number;
        if (one === 0) continue;
        slope += one * (layers[weights + at] as number);
        slopes[weights + at] = (slopes[weights + at] as number) + one * value;
      }
      slope *= scale;
      if (input < CHANNELS) {
        const place = (this.#best[input] as number) * CHANNELS + input;
        towards[place] = (towards[place] as number) + slope;
      } else if (input < 2 * CHANNELS) second.push({ channel: input - CHANNELS, slope });
      else if (input < POOLED) towardsMean[input - 2 * CHANNELS] = slope;
    }
    for (const { channel, slope } of second) this.#backSecond(channel, slope, slopes);
    this.#backFirst(slopes);
    this.#backEmbedded(towardsEmbedded, towardsMean, gradients);
  }

  #embed(tokens: Uint16Array, random: Random | undefined): void {
    const count = tokens.length / ROWS_OF_TOKEN;
    this.#count = count;
    const embedded = this.#embedded.fill(0);
    const inputs = this.#inputs.fill(0);
    for (let at = 0; at < tokens.length; at += 1) {
      const row = tokens[at] as number;
      if (row === 0 || random?.chance(TOKENS_LEFT_OUT)) {
        this.#rows[at] = -1;
        continue;
      }
      const place = ((at % ROWS_OF_TOKEN) * TOKEN_ROWS + row - 1) * WIDTH;
      this.#rows[at] = place;
      const to = (Math.floor(at / ROWS_OF_TOKEN) + ROOM) * WIDTH;
      for (let one = 0; one < WIDTH; one += 1) {
        const value = this.embeddings[place + one] as number;
        embedded[to + one] = (embedded[to + one] as number) + value;
        inputs[2 * CHANNELS + one] = (inputs[2 * CHANNELS + one] as number) + value;
      }
    }
    const share = 1 / Math.sqrt(1 + count);
    for (let at = 2 * CHANNELS; at < POOLED; at += 1) inputs[at] = (inputs[at] as number) * share;
  }

  #convolveFirst(): void {
    const { layers } = this;
    const embedded = this.#embedded;
    const seen = this.#seen.fill(0);
    this.#best.fill(-1);
    for (let token = 0; token < this.#count; token += 1) {
      const from = (token + ROOM - 1) * WIDTH;
      for (let channel = 0; channel < CHANNELS; channel += 1) {
        let sum = layers[OFFSETS.firstBias + channel] as number;
        const weights = OFFSETS.first + channel * SEEN * WIDTH;
        for (let at = 0; at < SEEN * WIDTH; at += 1) {
          sum += (embedded[from + at] as number) * (layers[weights + at] as number);
        }
        if (sum <= 0) continue;
        seen[(token + ROOM) * CHANNELS + channel] = sum;
        if (sum > (this.#inputs[channel] as number)) {
          this.#inputs[channel] = sum;
          this.#best[channel] = token + ROOM;
        }
      }
    }
  }

  #convolveSecond(): void {
    const { layers } = this;
    const seen = this.#seen;
    for (let token = 0; token < this.#count; token += 1) {
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
        if (sum > (this.#inputs[CHANNELS + channel] as number)) {
          this.#inputs[CHANNELS + channel] = sum;
          this.#best[CHANNELS + channel] = token + ROOM;
        }
      }
    }
  }

  #backSecond(channel: number, slope: number, slopes: Float32Array): void {
    const { layers } = this;
    const best = this.#best[CHANNELS + channel] as number;
    slopes[OFFSETS.secondBias + channel] = (slopes[OFFSETS.secondBias + channel] as number) + slope;
    let weights = OFFSETS.second + channel * SEEN * CHANNELS;
    for (let place = 0; place < SEEN; place += 1) {
      const from = (best + (place - 1) * STRIDE) * CHANNELS;
      for (let at = 0; at < CHANNELS; at += 1) {
        const value = this.#seen[from + at] as number;
        // Where the first layer saw nothing, nothing is to be corrected.
        if (value === 0) continue;
        slopes[weights + at] = (slopes[weights + at] as number) + slope * value;
        this.#towardsSeen[from + at] =
          (this.#towardsSeen[from + at] as number) + slope * (layers[weights + at] as number);
      }
      weights += CHANNELS;
    }
  }

  #backFirst(slopes: Float32Array): void {
    const { layers } = this;
    const towards = this.#towardsEmbedded;
    for (let place = ROOM; place < this.#count + ROOM; place += 1) {
      const from = (place - 1) * WIDTH;
      for (let channel = 0; channel < CHANNELS; channel += 1) {
        const slope = this.#towardsSeen[place * CHANNELS + channel] as number;
        if (slope === 0) continue;
        slopes[OFFSETS.firstBias + channel] =
          (slopes[OFFSETS.firstBias + channel] as number) + slope;
        const weights = OFFSETS.first + channel * SEEN * WIDTH;
        for (let at = 0; at < SEEN * WIDTH; at += 1) {
          slopes[weights + at] =
            (slopes[weights + at] as number) + slope * (this.#embedded[from + at] as number);
          towards[from + at] =
            (towards[from + at] as number) + slope * (layers[weights + at] as number);
        }
      }
    }
  }

  #backEmbedded(towards: Float32Array, mean: Float32Array, gradients: Gradients): void {
    const share = 1 / Math.sqrt(1 + this.#count);
    const { embeddings, rows } = gradients;
    for (let at = 0; at < this.#count * ROWS_OF_TOKEN; at += 1) {
      const place = this.#rows[at] as number;
      if (place < 0) continue;
      const row = place / WIDTH;
      if (this.#rowUsed[row] === 0) {
        this.#rowUsed[row] = 1;
        rows.push(row);
      }
      const from = (Math.floor(at / ROWS_OF_TOKEN) + ROOM) * WIDTH;
      for (let one = 0; one < WIDTH; one += 1) {
        embeddings[place + one] =
          (embeddings[place + one] as number) +
          (towards[from + one] as number) +
          (mean[one] as number) * share;
      }
    }
  }

  /** After a step: gradients are empty again. */
  clear({ embeddings, rows, layers }: Gradients): void {
    for (const row of rows) {
      this.#rowUsed[row] = 0;
      embeddings.fill(0, row * WIDTH, (row + 1) * WIDTH);
    }
    rows.length = 0;
    layers.fill(0);
  }
}

/** A number of the standard normal distribution (Box and Muller). */
function normalOf(random: Random): number {
  const one = (random.below(0x1_0000_0000) + 1) / 0x1_0000_0001;
  const other = random.below(0x1_0000_0000) / 0x1_0000_0000;
  return Math.sqrt(-2 * Math.log(one)) * Math.cos(2 * Math.PI * other);
}
