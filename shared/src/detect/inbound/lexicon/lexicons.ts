import { DE } from './de.ts';
import { EN } from './en.ts';
import { ES } from './es.ts';
import { FR } from './fr.ts';
import { JA } from './ja.ts';
import type { Lexicon } from './lexicon.ts';
import { TURNED } from './turned.ts';
import { ZH } from './zh.ts';

/** The order has no weight. */
export const LEXICONS: readonly Lexicon[] = [DE, EN, ES, FR, JA, TURNED, ZH];
