import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InboundClass } from '@governance/shared/detect/findings';
import { projectRoot } from '@governance/shared/process/assets';

/** The tuning half: templates of each language, in carriers and disguises, from one seed. */
import { carry, disguise } from './carriers.ts';
import { fill, templatesOf } from './fill.ts';
import { GRAMMARS } from './grammar/grammars.ts';
import type { LanguageTexts } from './language-texts.ts';

import { LANGUAGES } from './languages/languages.ts';
import { createRandom, type Random } from './random.ts';
import type { TrainingText } from './training-text.ts';

export const SEED = 20_261;
const EACH_ATTACK = 9;
const EACH_BENIGN = 12;
/** A grammar's template has many fillings. */
const EACH_GRAMMAR_ATTACK = 30;
const EACH_GRAMMAR_BENIGN = 40;
/** How often each sentence of the prose is used, each time next to others. */
const PROSE_ROUNDS = 3;
const TALKS_OF_ATTACKS = 'security';

export function trainingTexts(): TrainingText[] {
  const random = createRandom(SEED);
  return [
    ...[...LANGUAGES, ...GRAMMARS].flatMap((language) => [
      ...attacksOf(language, random),
      ...benignOf(language, random),
    ]),
    ...proseTexts(),
  ];
}

/** Sentences from this project's own documents: long ordinary prose about approvals and rights. */
export function proseTexts(rounds = PROSE_ROUNDS): TrainingText[] {
  const random = createRandom(SEED + 1);
  const folder = join(projectRoot, 'scripts/train-inbound/prose');
  const sentences = readdirSync(folder)
    .sort()
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n'));
  return Array.from({ length: rounds }, () => random.shuffle(sentences)).flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / 4) }, (_, at) => ({
      text: carry(all.slice(at * 4, at * 4 + 4), random),
      kind: 'benign' as const,
    })),
  );
}

function attacksOf({ slots, attacks, benign }: LanguageTexts, random: Random): TrainingText[] {
  const around = Object.entries(benign)
    .filter(([genre]) => genre !== TALKS_OF_ATTACKS)
    .map(([, lines]) => templatesOf(lines));
  const each = slots === undefined ? EACH_ATTACK : EACH_GRAMMAR_ATTACK;
  return Object.entries(attacks).flatMap(([name, lines]) =>
    templatesOf(lines).flatMap((template) =>
      Array.from({ length: each }, (_, round) => {
        const attack = fill(template, random, slots);
        const label = { kind: 'attack' as const, class: name as InboundClass };
        if (round % 9 < 2) return { ...label, text: attack };
        // Without a class: some disguises change it, others keep it.
        if (round % 9 === 2) return { kind: 'attack' as const, text: disguise(attack, random) };
        const genre = random.pick(around);
        const sentences = Array.from({ length: 1 + random.below(4) }, () =>
          fill(random.pick(genre), random, slots),
        );
        sentences.splice(random.below(sentences.length + 1), 0, attack);
        return { ...label, attack, text: carry(sentences, random) };
      }),
    ),
  );
}

function benignOf({ slots, benign }: LanguageTexts, random: Random): TrainingText[] {
  const each = slots === undefined ? EACH_BENIGN : EACH_GRAMMAR_BENIGN;
  const all = Object.values(benign).flatMap(templatesOf);
  return Object.entries(benign).flatMap(([genre, lines]) => {
    const templates = templatesOf(lines);
    return templates.flatMap((template) =>
      Array.from({ length: each }, (_, round) => {
        const first = fill(template, random, slots);
        const isDescription = genre === 'tools' && round % 3 === 0;
        if (round % 12 < 4) return { text: first, kind: 'benign' as const, isDescription };
        const from = random.chance(0.7) ? templates : all;
        const others = Array.from({ length: random.below(6) }, () =>
          fill(random.pick(from), random, slots),
        );
        const text = carry(random.shuffle([first, ...others]), random);
        return { text: round % 12 === 4 ? disguise(text, random) : text, kind: 'benign' as const };
      }),
    );
  });
}
