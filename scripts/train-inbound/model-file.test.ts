import { model } from '@governance/shared/detect/inbound/model';
import { readWordGroups } from '@governance/shared/detect/inbound/word-groups';
import { expect, it } from 'vitest';
import { digestReading } from './reading-digest.ts';
import { SEED, trainingTexts } from './texts.ts';
import { digestTexts } from './training-text.ts';
import { wordGroupsFile } from './word-groups.ts';
import { writtenTexts } from './written-texts.ts';

const texts = [...trainingTexts(), ...writtenTexts()];

it('the shipped model was trained on the texts and groups of words of these sources', () => {
  const { seed, texts: count, data_digest: digest, groups } = model;
  expect({ seed, count, digest, groups }).toEqual({
    seed: SEED,
    count: texts.length,
    digest: digestTexts(texts),
    groups: wordGroupsFile(),
  });
});

it('the shipped model was trained with the reading as it is', () => {
  const digest = digestReading(texts, readWordGroups(wordGroupsFile()));
  expect({ now: digest }, 'the reading has changed: npm run inbound:train').toEqual({
    now: model.reading_digest,
  });
});
