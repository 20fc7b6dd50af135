import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '@governance/shared/assets';

/** The tuning half: templates of each language, in carriers and disguises, from one seed. */
import { carry, disguise } from './carriers.ts';
import type { LanguageTexts } from './language-texts.ts';

import { LANGUAGES } from './languages/languages.ts';
import { createRandom, type Random } from './random.ts';
import type { TrainingText } from './train-model.ts';

export const SEED = 20_261;
const EACH_ATTACK = 9;
const EACH_BENIGN = 12;
/** How often each sentence of the prose is read, each time beside others. */
const PROSE_ROUNDS = 3;
const TALKS_OF_ATTACKS = 'security';

export function trainingTexts(): TrainingText[] {
  const random = createRandom(SEED);
  return [
    ...LANGUAGES.flatMap((language) => [
      ...attacksOf(language, random),
      ...benignOf(language, random),
    ]),
    ...proseOf(random),
  ];
}

/** Sentences of this project's own documents: long ordinary prose about approvals and rights. */
function proseOf(random: Random): TrainingText[] {
  const folder = join(projectRoot, 'scripts/train-inbound/prose');
  const sentences = readdirSync(folder)
    .sort()
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n'));
  return Array.from({ length: PROSE_ROUNDS }, () => random.shuffle(sentences)).flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / 4) }, (_, at) => ({
      text: carry(all.slice(at * 4, at * 4 + 4), random),
      kind: 'benign' as const,
    })),
  );
}

function attacksOf({ attacks, benign }: LanguageTexts, random: Random): TrainingText[] {
  const around = Object.entries(benign)
    .filter(([genre]) => genre !== TALKS_OF_ATTACKS)
    .map(([, lines]) => templatesOf(lines));
  return Object.values(attacks).flatMap((lines) =>
    templatesOf(lines).flatMap((template) =>
      Array.from({ length: EACH_ATTACK }, (_, round) => {
        const attack = fill(template, random);
        if (round < 2) return { text: attack, kind: 'attack' as const };
        if (round === 2) return { text: disguise(attack, random), kind: 'attack' as const };
        const genre = random.pick(around);
        const sentences = Array.from({ length: 1 + random.below(4) }, () =>
          fill(random.pick(genre), random),
        );
        sentences.splice(random.below(sentences.length + 1), 0, attack);
        return { text: carry(sentences, random), kind: 'attack' as const };
      }),
    ),
  );
}

function benignOf({ benign }: LanguageTexts, random: Random): TrainingText[] {
  return Object.entries(benign).flatMap(([genre, lines]) => {
    const templates = templatesOf(lines);
    return templates.flatMap((template) =>
      Array.from({ length: EACH_BENIGN }, (_, round) => {
        const first = fill(template, random);
        const isDescription = genre === 'tools' && round % 3 === 0;
        if (round < 4) return { text: first, kind: 'benign' as const, isDescription };
        const others = Array.from({ length: random.below(6) }, () =>
          fill(random.pick(templates), random),
        );
        const text = carry([first, ...others], random);
        return { text: round === 4 ? disguise(text, random) : text, kind: 'benign' as const };
      }),
    );
  });
}

export function templatesOf(lines: string): string[] {
  return lines.split('\n').filter((line) => line.trim() !== '');
}

/** Picks one of each `{a|b}`; braces of JSON have no `|` and stay. */
export function fill(template: string, random: Random): string {
  return template
    .replace(/\{([^{}]*\|[^{}]*)\}/g, (_all, choices: string) => random.pick(choices.split('|')))
    .replaceAll('\\n', '\n')
    .replaceAll('$pipe', '|');
}
