import type { LanguageTexts } from '../language-texts.ts';
import { EN_GRAMMAR_ATTACKS } from './en/attacks.ts';
import { EN_PLAIN_ATTACKS } from './en/attacks-plain.ts';
import { EN_PLAIN_BENIGN } from './en/benign-plain.ts';
import { EN_ORDINARY_GRAMMAR } from './en/ordinary.ts';
import { EN_REPORTED } from './en/reported.ts';
import { EN_SLOTS } from './en/slots.ts';

export const EN_GRAMMAR: LanguageTexts = {
  slots: EN_SLOTS,
  attacks: EN_GRAMMAR_ATTACKS,
  benign: { ...EN_ORDINARY_GRAMMAR, ...EN_REPORTED },
};

/** The same slots: little grammar, and many turns of phrase. */
export const EN_PLAIN: LanguageTexts = {
  slots: EN_SLOTS,
  attacks: EN_PLAIN_ATTACKS,
  benign: EN_PLAIN_BENIGN,
};
