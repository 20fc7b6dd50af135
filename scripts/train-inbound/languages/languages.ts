import type { LanguageTexts } from '../language-texts.ts';
import { DE } from './de.ts';
import { DE_MORE, FR_MORE } from './de-fr-more.ts';
import { EN } from './en.ts';
import { EN_ORDINARY } from './en-ordinary.ts';
import { EN_SUBTLE } from './en-subtle.ts';
import { ES } from './es.ts';
import { ES_MORE, JA_MORE, ZH_MORE } from './es-zh-ja-more.ts';
import { FR } from './fr.ts';
import { JA } from './ja.ts';
import { OTHER_LANGUAGES } from './other-languages.ts';
import { ZH } from './zh.ts';

const join = (one: LanguageTexts, other: LanguageTexts): LanguageTexts => ({
  attacks: joinLines(one.attacks, other.attacks),
  benign: joinLines(one.benign, other.benign),
});

function joinLines(
  one: Readonly<Record<string, string | undefined>>,
  other: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, `${one[name] ?? ''}${other[name] ?? ''}`]));
}

/**
 * All templates, one entry per language: an attack is surrounded by benign texts of its language.
 */
export const LANGUAGES: readonly LanguageTexts[] = [
  join(EN, join(EN_SUBTLE, EN_ORDINARY)),
  join(DE, DE_MORE),
  join(FR, FR_MORE),
  join(ES, ES_MORE),
  join(ZH, ZH_MORE),
  join(JA, JA_MORE),
  ...OTHER_LANGUAGES,
];
