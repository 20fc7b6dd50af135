import type { LanguageTexts } from '../language-texts.ts';
import { DE_GRAMMAR } from './de.ts';
import { EN_GRAMMAR, EN_PLAIN } from './en.ts';
import { ES_GRAMMAR } from './es.ts';
import { FR_GRAMMAR } from './fr.ts';
import { JA_GRAMMAR } from './ja.ts';
import { PLAIN } from './plain.ts';
import { MORE_GRAMMARS } from './romance-slavic-dutch.ts';
import { ZH_GRAMMAR } from './zh.ts';

/**
 * Grammars: what is asked, by whom, of whom, how secretly and why, in each combination; and the
 * same words reported, quoted, forbidden, documented, or addressed to a person.
 */
export const GRAMMARS: readonly LanguageTexts[] = [
  EN_GRAMMAR,
  EN_PLAIN,
  DE_GRAMMAR,
  FR_GRAMMAR,
  ES_GRAMMAR,
  ZH_GRAMMAR,
  JA_GRAMMAR,
  ...PLAIN,
  ...MORE_GRAMMARS,
];
