import { DE } from './de.ts';
import { EN } from './en.ts';
import { EN_MORE } from './en-more.ts';
import { ES } from './es.ts';
import { FR } from './fr.ts';
import { JA } from './ja.ts';
import type { Lexicon } from './lexicon.ts';
import { IT, NL, PT, RU } from './romance-slavic-dutch.ts';
import { TURNED } from './turned.ts';
import { ZH } from './zh.ts';

/** The order is irrelevant. */
export const LEXICONS: readonly Lexicon[] = [
  DE,
  EN,
  EN_MORE,
  ES,
  FR,
  IT,
  JA,
  NL,
  PT,
  RU,
  TURNED,
  ZH,
];
