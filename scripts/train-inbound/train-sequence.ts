/**
 * Trains the reader of sequences (shared/src/detect/inbound/sequence.ts) by Adam. It learns from all
 * passages: with fewer of the plainly ordinary ones it judged unknown texts worse.
 */
import {
  CHANNELS,
  LAYERS_COUNT,
  OFFSETS,
  SEEN,
  WIDTH,
} from '@governance/shared/detect/inbound/sequence';
import { createRandom } from './random.ts';
import { emptyGradients, type Gradients, type Sequence, SequenceNet } from './sequence-net.ts';

export interface Example extends Sequence {
  readonly isAttack: boolean;
  /** How much it counts. */
  readonly weight: number;
}

const EPOCHS = 5;
const BATCH = 256;
const RATE = 0.002;
const LEAST_RATE = 0.05;
const FIRST_DECAY = 0.9;
const SECOND_DECAY = 0.99;
const TINY = 1e-6;
/** How strongly weights between layers are pulled to 0. */
const PULL = 2e-5;

interface Moments {
  readonly first: Float32Array;
  readonly second: Float32Array;
}

export function trainSequence(examples: readonly Example[], seed: number): SequenceNet {
  const random = createRandom(seed);
  const net = new SequenceNet(random);
  const gradients = emptyGradients();
  const ofLayers = momentsOf(LAYERS_COUNT);
  const ofRows = momentsOf(net.embeddings.length);
  const steps = EPOCHS * Math.ceil(examples.length / BATCH);
  let step = 0;
  for (let epoch = 1; epoch <= EPOCHS; epoch += 1) {
    const shuffled = random.shuffle(examples);
    for (let from = 0; from < shuffled.length; from += BATCH) {
      const batch = shuffled.slice(from, from + BATCH);
      for (const example of batch) {
        const error = sigmoid(net.forward(example, random)) - (example.isAttack ? 1 : 0);
        net.backward((error * example.weight) / batch.length, gradients);
      }
      step += 1;
      pull(net.layers, gradients.layers);
      const rate = RATE * Math.max(LEAST_RATE, 1 - step / steps);
      const adam = adamOf(rate, step);
      for (let at = 0; at < LAYERS_COUNT; at += 1) adam(net.layers, gradients.layers, ofLayers, at);
      for (const row of gradients.rows) {
        for (let at = row * WIDTH; at < (row + 1) * WIDTH; at += 1) {
          adam(net.embeddings, gradients.embeddings, ofRows, at);
        }
      }
      net.clear(gradients);
    }
  }
  return net;
}

const momentsOf = (count: number): Moments => ({
  first: new Float32Array(count),
  second: new Float32Array(count),
});

/** Adam (Kingma and Ba, 2015), one weight at a time; of rows, only at the steps that used them. */
function adamOf(rate: number, step: number) {
  const firstShare = 1 / (1 - FIRST_DECAY ** step);
  const secondShare = 1 / (1 - SECOND_DECAY ** step);
  return (
    weights: Float32Array,
    slopes: Float32Array,
    { first, second }: Moments,
    at: number,
  ): void => {
    const slope = slopes[at] as number;
    const one = FIRST_DECAY * (first[at] as number) + (1 - FIRST_DECAY) * slope;
    const two = SECOND_DECAY * (second[at] as number) + (1 - SECOND_DECAY) * slope * slope;
    first[at] = one;
    second[at] = two;
    weights[at] =
      (weights[at] as number) - (rate * one * firstShare) / (Math.sqrt(two * secondShare) + TINY);
  };
}

function pull(layers: Float32Array, slopes: Gradients['layers']): void {
  const ends: readonly (readonly [from: number, to: number])[] = [
    [OFFSETS.first, OFFSETS.firstBias],
    [OFFSETS.second, OFFSETS.second + SEEN * CHANNELS * CHANNELS],
    [OFFSETS.hidden, OFFSETS.hiddenBias],
  ];
  for (const [from, to] of ends) {
    for (let at = from; at < to; at += 1) {
      slopes[at] = (slopes[at] as number) + PULL * (layers[at] as number);
    }
  }
}

const sigmoid = (sum: number): number => 1 / (1 + Math.exp(-sum));
