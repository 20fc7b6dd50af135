/** Weights are for the reading that they were trained with: a digest tells whether it has changed. */
import { createHash } from 'node:crypto';
import type { WordGroups } from '@governance/shared/detect/inbound/word-groups';
import { toBag } from './bags.ts';
import type { TrainingText } from './training-text.ts';
import { windowsOf } from './windows.ts';

/** A reading that changed shows in some of so many texts. */
const SAMPLED = 211;

/** SHA-256 (hex) of the features of a sample of the texts. */
export function digestReading(texts: readonly TrainingText[], groups: WordGroups): string {
  const digest = createHash('sha256');
  for (const text of texts.filter((_text, index) => index % SAMPLED === 0)) {
    for (const { features, values, sequence } of toBag(text, groups).passages) {
      digest.update(features).update(values).update(sequence.tokens);
    }
    for (const { tokens } of windowsOf(text)) digest.update(tokens);
  }
  return digest.digest('hex');
}
