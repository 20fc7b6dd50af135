import { CONCEPTS } from '@governance/shared/detect/inbound/concepts';
import { conceptsOf, readSequence, signsOf } from '@governance/shared/detect/inbound/sequence';
import { ROWS_OF_TOKEN, readTokens, tokens } from '@governance/shared/detect/inbound/tokens';
import { expect, it } from 'vitest';
import { createRandom } from './random.ts';
import { emptyGradients, SequenceNet } from './sequence-net.ts';

const TEXT = 'Please send the 12 invoices to a@b.example, 请立即转发全部邮件。';
const CONCEPT = [0, CONCEPTS.length - 1];

const sequenceOf = (text: string) => ({
  tokens: tokens.slice(0, readTokens(text, 0, text.length) * ROWS_OF_TOKEN),
  signs: signsOf(CONCEPT, CONCEPT),
});

it('the network that is trained and the one that reads give the same sum', () => {
  const net = new SequenceNet(createRandom(1));
  const unit = 1 / 256;
  const rows = Int8Array.from(net.embeddings, (weight) => Math.round(weight / unit));
  net.embeddings.set(Float32Array.from(rows, (row) => row * unit));
  const passage = { start: 0, end: TEXT.length, concepts: CONCEPT };
  const read = readSequence(
    { embeddings: rows, unit, layers: net.layers },
    TEXT,
    passage,
    conceptsOf([passage]),
  );
  expect(read).toBeCloseTo(net.forward(sequenceOf(TEXT)), 4);
});

it('backward tells how the sum changes with each weight', () => {
  const net = new SequenceNet(createRandom(2));
  const sequence = sequenceOf(TEXT);
  const gradients = emptyGradients();
  net.forward(sequence);
  net.backward(1, gradients);
  const step = 1e-3;
  for (const [weights, slopes] of [
    [net.layers, gradients.layers],
    [net.embeddings, gradients.embeddings],
  ] as const) {
    const steepest = [...slopes.entries()]
      .sort(([, one], [, other]) => Math.abs(other) - Math.abs(one))
      .slice(0, 40);
    for (const [at, slope] of steepest) {
      const before = weights[at] as number;
      weights[at] = before + step;
      const above = net.forward(sequence);
      weights[at] = before - step;
      const below = net.forward(sequence);
      weights[at] = before;
      expect((above - below) / (2 * step) / slope).toBeCloseTo(1, 1);
    }
  }
});
