import { model } from '@governance/shared/detect/inbound/model';
import { expect, it } from 'vitest';
import { SEED, trainingTexts } from './texts.ts';
import { digestTexts } from './train-model.ts';

it('the shipped model was trained on the texts of these sources', () => {
  const texts = trainingTexts();
  expect({ seed: model.seed, texts: model.texts, digest: model.data_digest }).toEqual({
    seed: SEED,
    texts: texts.length,
    digest: digestTexts(texts),
  });
});
