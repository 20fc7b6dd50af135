import { model } from '@governance/shared/detect/inbound/model';
import { expect, it } from 'vitest';
import { SEED, trainingTexts } from './texts.ts';
import { digestTexts } from './training-text.ts';
import { wordGroupsFile } from './word-groups.ts';
import { writtenTexts } from './written-texts.ts';

it('the shipped model was trained on the texts and groups of words of these sources', () => {
  const texts = [...trainingTexts(), ...writtenTexts()];
  const { seed, texts: count, data_digest: digest, groups } = model;
  expect({ seed, count, digest, groups }).toEqual({
    seed: SEED,
    count: texts.length,
    digest: digestTexts(texts),
    groups: wordGroupsFile(),
  });
});
