import { type BuiltinPattern, type Judge, NOTHING, type Stretch } from '../builtin-pattern.ts';
import { around, isPartOfLonger } from '../judges.ts';
import { findNear, stretches } from '../near.ts';
import { weightedSum } from '../validators/checksums.ts';
import { ibanLength, isIban } from '../validators/iban.ts';
import { cardIssuer, isCardNumber, isTestCard } from '../validators/payment-card.ts';
import { BROKEN_CARDS, BROKEN_IBANS } from './broken-lines.ts';
import { BANK_LABELS, CARD_LABELS } from './labels.ts';
import { withoutSamples } from './samples.ts';

/** Words that call a card one for tests, which counts only for numbers that issuers publish as such. */
const FOR_TESTS =
  /\btest(?:ing|s|mode|karten?|nummern?|kort)?\b|\bdocumented\b|\bsandbox\b|\bpruebas?\b/i;
const TEST_CONTEXT = 80;

const isForTests = (text: string, start: number, end: number): boolean =>
  isTestCard(text.slice(start, end).replace(/\D/g, '')) &&
  FOR_TESTS.test(around(text, start, end, TEST_CONTEXT, TEST_CONTEXT));

/** How far from the number a word for a card may stand. */
const CARD_CONTEXT = 60;

const card: Judge = (text, start, candidateEnd) => {
  const more = /^(?:[ .\-_/*]?\d){0,40}/.exec(text.slice(candidateEnd, candidateEnd + 80));
  const end = candidateEnd + (more?.[0].length ?? 0);
  if (/[A-Za-z_]/.test(text[end] ?? '')) return NOTHING;
  const digits = text.slice(start, end).replace(/\D/g, '');
  const words = () => CARD_LABELS.test(around(text, start, end, CARD_CONTEXT, 30));
  if (isInDump(text, start, end)) return NOTHING;
  // A number with decimals, also from its end.
  if (/^\d{1,3}\.\d+$|^\d+\.\d{1,3}$/.test(text.slice(start, end))) return NOTHING;
  // A run of numbers may begin or end with digits that are not part of the card.
  if (isCardNumber(digits)) {
    const isStrong = cardIssuer(digits) === 'strong';
    if (isPartOfLonger(text, { start, end }, isStrong)) return NOTHING;
    if (isForTests(text, start, end)) return NOTHING;
    const isCertain = isStrong && !isInRow(text, { start, end });
    return isCertain || words() ? [{ start, end }] : NOTHING;
  }
  const [within] = cardWithin(text, start, end);
  return within && (!isInRow(text, within) || words()) ? [within] : NOTHING;
};

/** Whether a number is a row of bytes, two digits each, with more bytes before or behind it. */
function isInDump(text: string, start: number, end: number): boolean {
  return (
    /^\d\d(?: \d\d){5,9}$/.test(text.slice(start, end)) &&
    (/[0-9a-f]{2} {1,2}$/i.test(text.slice(Math.max(0, start - 4), start)) ||
      /^ {1,2}(?:[0-9a-f]{2}\b|\|)/i.test(text.slice(end, end + 4)))
  );
}

/** Track 1 of a card's magnetic stripe. */
const track: Judge = (text, start, end) => {
  const digits = /\d+/.exec(text.slice(start, end))?.[0] ?? '';
  return isCardNumber(digits) ? [{ start, end }] : NOTHING;
};

/** Whether groups of four continue before or after: a table row, not a card with date or code. */
function isInRow(text: string, { start, end }: Stretch): boolean {
  const [, sign = ''] = /^\d{4}([^\dA-Za-z]{1,3})\d{4}/.exec(text.slice(start, start + 11)) ?? [];
  if (sign === '') return false;
  const before = text.slice(Math.max(0, start - sign.length - 4), start);
  const behind = text.slice(end, end + sign.length + 5);
  return (
    (before.endsWith(sign) && /^\d{4}/.test(before)) ||
    (behind.startsWith(sign) &&
      /^\d{4}(?!\d)/.test(behind.slice(sign.length)) &&
      !/^(?:0[1-9]|1[0-2])[2-4]\d/.test(behind.slice(sign.length)))
  );
}

/** Four groups of four among more groups: a card followed by its security code or date. */
function cardWithin(text: string, start: number, end: number): ReturnType<Judge> {
  const groups =
    /(?<![\d.,])(?:\d{4}[ \-.]\d{4}[ \-.]\d{4}[ \-.]\d{4}|\d{4}[ \-.]\d{6}[ \-.]\d{5}|\d{15,16}(?![.,]\d))(?!\d)/g;
  for (const match of text.slice(start, end).matchAll(groups)) {
    const digits = match[0].replace(/\D/g, '');
    if (cardIssuer(digits) === 'strong' && isCardNumber(digits)) {
      return [{ start: start + match.index, end: start + match.index + match[0].length }];
    }
  }
  return NOTHING;
}

const iban: Judge = (text, start) => {
  const length = ibanLength(text.slice(start, start + 2).toUpperCase());
  if (length === undefined) return NOTHING;
  let compact = '';
  let at = start;
  for (; compact.length < length && at < start + 80; at++) {
    const character = text[at] ?? '';
    if (/[A-Za-z0-9]/.test(character)) compact += character;
    else if (!/[ \-._\u00a0]/.test(character)) break;
  }
  if (/[A-Za-z0-9]/.test(text[at] ?? '')) return NOTHING;
  return isIban(compact.toUpperCase()) ? [{ start, end: at }] : NOTHING;
};

/** ABA routing number: weights 3, 7, 1. */
const isRouting = (digits: string): boolean =>
  weightedSum(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0 && !digits.startsWith('00');

const ROUTING = stretches(/(?<![\d.])\d{9}(?!\d)/g, isRouting);
const SORT_CODE = stretches(/(?<!\d)\d{2}[ \-–]\d{2}[ \-–]\d{2}(?!\d|[ -]\d)/g);
const ACCOUNT = stretches(
  /(?<![A-Za-z\d.$€£])(?:[A-Z]{1,3}-?)?\d(?:[ -]?\d){5,18}(?![A-Za-z\d])/g,
  (value) => {
    const digits = value.replace(/\D/g, '');
    return digits.length >= 6 && !/^(?:19|20)\d\d-?\d\d-?\d\d$/.test(value);
  },
);
/** The account behind the eight digits of its bank, which are published. */
const BEHIND_CODE = (window: string): readonly Stretch[] => {
  const [first, ...others] = ACCOUNT(window);
  if (!first) return NOTHING;
  const code = window.slice(first.start, first.end);
  return /^\d{3} ?\d{3} ?\d{2}$/.test(code) ? others.slice(0, 1) : [first];
};
const CODE = stretches(
  /(?<![A-Za-z\d])(?:[A-Z]{4}0[A-Z0-9]{6}|[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)(?![A-Za-z\d])/g,
  (value) => /\d/.test(value),
);

const bank: Judge = (text, start, end) => {
  const label = text.slice(start, end).toLowerCase();
  const near = { after: 44, before: 0 };
  // "acct ref …" is what somebody's own books call an entry.
  if (/^acct[ _-]?$/.test(label) && /^\W{0,2}ref/i.test(text.slice(end, end + 6))) return NOTHING;
  if (/routing|aba|rtn/.test(label)) return findNear(text, start, end, near, ROUTING);
  if (/sort/.test(label)) return findNear(text, start, end, near, SORT_CODE);
  // A bank's own code is published.
  if (/swift|bic/.test(label)) return NOTHING;
  if (/ifsc/.test(label)) return findNear(text, start, end, near, CODE);
  if (/blz|bankleitzahl/.test(label)) return findNear(text, start, end, near, BEHIND_CODE);
  return findNear(text, start, end, near, ACCOUNT);
};

const HEX_KEY = /(?<![A-Fa-f0-9])(?:0x)?[A-Fa-f0-9]{64}(?![A-Fa-f0-9])/;
const WORDS =
  /(?<![a-z])(?:\d{1,2}[.)] ?)?[a-z]{3,8}(?:[ ,\n]{1,3}(?:\d{1,2}[.)] ?)?[a-z]{3,8}){11,23}(?![a-z])/;
const SENTENCE = / (?:the|and|your|that|this|with|for|are|must|should|please|never|from|which) /g;

const wallet: Judge = (text, start, end) => {
  const window = text.slice(end, end + 320);
  const isPhrase = /seed|mnemonic|phrase|recovery|backup|wallet|words/i.test(
    text.slice(start, end),
  );
  const hex = /^[^\n]{0,60}$/.test(window.slice(0, HEX_KEY.exec(window)?.index ?? 400))
    ? HEX_KEY.exec(window)
    : null;
  if (hex && new Set(hex[0]).size > 6) {
    return [{ start: end + hex.index, end: end + hex.index + hex[0].length }];
  }
  const phrase = isPhrase ? WORDS.exec(window) : null;
  if (!phrase || phrase.index > 60) return NOTHING;
  // Prose has function words; the BIP 39 word list has none of them.
  if ((phrase[0].match(SENTENCE)?.length ?? 0) > 0) return NOTHING;
  return [{ start: end + phrase.index, end: end + phrase.index + phrase[0].length }];
};

const base58: Judge = (text, start, end) => {
  const value = text.slice(start, end);
  const isMixed = /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value);
  return isMixed && new Set(value).size > 20 ? [{ start, end }] : NOTHING;
};

/** Money: cards, accounts, wallets. */
export const FINANCIAL: readonly BuiltinPattern[] = [
  {
    name: 'payment_card',
    severity: 'critical',
    description: 'Number of a credit or debit card.',
    expressions: [
      String.raw`\b\d(?:[ .\-_/*]?\d){11}`,
      String.raw`\b\d{4} ?[-–—.·,|:/] ?\d{4} ?[-–—.·,|:/] ?\d{4} ?[-–—.·,|:/] ?\d{4}\b|\b\d{4}\s{1,4}\d{4}\s{1,4}\d{4}\s{1,4}\d{4}\b`,
      ...BROKEN_CARDS,
      // In a file's name or a key: visa_4…
      {
        expression: String.raw`(?:[Cc]ard|[Kk]arte|[Cc]arte|[Tt]arjeta|[Vv]isa|[Aa]mex|[Mm]astercard|\b[Pp]an|\b[Cc]c)_(?:n[or]_|num_|number_)?\d{12}`,
        judge: (text, _start, end) => card(text, end - 12, end),
      },
      { expression: String.raw`B\d{13,19}\^[^^\n]{2,40}\^`, judge: track },
    ],
    validator:
      'Luhn, and the ranges of the issuers; rare ranges only beside a word for a card; no number that is published for tests and called so',
    judge: withoutSamples(card),
  },
  {
    name: 'iban',
    severity: 'high',
    description: 'International bank account number.',
    expressions: [
      String.raw`\b[A-Za-z]{2}[ _-]?\d[ _-]?\d[ _-]?[A-Za-z0-9]{1,4}[ _-]?[A-Za-z0-9]`,
      ...BROKEN_IBANS,
      // Behind a field's number or name in a message of a bank, or a part of a file's name: ?31DE…,
      // IBANDE…, statement_DE….
      {
        expression: String.raw`(?:\?3\d|IBAN|iban|_)[A-Z]{2}\d{2}[A-Z0-9]{11}`,
        judge: (text, _start, end) => iban(text, end - 15, end),
      },
    ],
    validator: "modulo 97, and the country's length",
    judge: withoutSamples(iban),
  },
  {
    name: 'bank_account',
    severity: 'high',
    description: 'Bank account, routing number, sort code or bank code in context.',
    expressions: [BANK_LABELS],
    validator: 'beside a word for it; the check digit of a routing number',
    judge: bank,
  },
  {
    name: 'crypto_wallet_secret',
    severity: 'critical',
    description: 'Private key or seed phrase of a wallet.',
    expressions: [
      {
        expression:
          '(?i)seed[ _-]?(?:phrase|words)|mnemonic|recovery[ _-]?phrase|secret[ _-]?phrase|backup phrase|private[ _-]?key|priv[_-]?key|wallet[ _-]?(?:key|secret|seed)|\\bseed\\b|eth(?:ereum)?[ _-]?key|\\bwallet\\(|wiederherstellungsphrase|frase semilla|phrase de récupération|助记词|ニーモニック',
        judge: wallet,
      },
      { expression: String.raw`\b[5KL][1-9A-HJ-NP-Za-km-z]{50,51}\b`, judge: base58 },
      { expression: String.raw`\b[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}\b`, judge: base58 },
    ],
    validator:
      'a key of 256 bits or twelve to twenty-four words beside a word for it; the form of WIF and BIP 32',
  },
];
