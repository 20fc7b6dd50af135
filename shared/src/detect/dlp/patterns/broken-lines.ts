/**
 * Values that a line break, with or without indentation, cuts into two: only those that a check
 * digit or an unmistakable form tells apart from the two lines of a list.
 */
import { type Judge, type JudgedExpression, NOTHING } from '../builtin-pattern.ts';
import { realKey } from '../judges.ts';
import { ibanLength, isIban } from '../validators/iban.ts';
import { cardIssuer, isCardNumber } from '../validators/payment-card.ts';
import { CARD_LABELS } from './labels.ts';

/** A line end, as such or escaped, before a line that may be quoted in a mail. */
const BREAK = String.raw`(?:\r?\n|(?:\\r)?\\n)[ \t>]{0,16}`;
const BREAKS = new RegExp(BREAK, 'g');
const BLANKS = /[ \t]{1,16}$/;

const GROUPED = /^(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}|\d{4}([ -])\d{6}\2\d{4,5})$/;
/** Words for a card, as far before it. */
const CONTEXT = 60;

const card: Judge = (text, start, end) => {
  const written = text.slice(start, end);
  const joined = written.replace(BREAKS, '');
  const digits = joined.replace(/\D/g, '');
  if (!isCardNumber(digits)) return NOTHING;
  // A number before or behind it makes it a part of a list.
  const before = text.slice(Math.max(0, start - CONTEXT), start);
  if (/\d[\s,;|.-]{0,4}$/.test(before) || /^[\s,;|.-]{0,4}\d/.test(text.slice(end, end + 6)))
    return NOTHING;
  const isStrong = cardIssuer(digits) === 'strong';
  const isGrouped = GROUPED.test(joined);
  // Two of three: an issuer's sure range, its groups, a word for a card.
  if (isStrong && isGrouped) return [{ start, end }];
  // Between two groups a list of numbers breaks, too.
  const isBetween = GROUPED.test(written.replace(BREAKS, ' ').replace(/ {2,}/g, ' '));
  const isOne = isGrouped || (isStrong && (digits === joined || isBetween));
  return isOne && CARD_LABELS.test(before) ? [{ start, end }] : NOTHING;
};

const iban: Judge = (text, start, end) => {
  const length = ibanLength(text.slice(start, start + 2));
  if (length === undefined) return NOTHING;
  const written = text.slice(start, end);
  const [line = ''] = written.split(BREAKS);
  // The whole number stands on the first line, or the words behind it begin the next.
  let compact = line.replace(/[ -]/g, '').length;
  if (compact >= length) return NOTHING;
  let at = line.length + (new RegExp(BREAK).exec(written)?.[0].length ?? 0);
  for (; at < written.length && compact < length; at++) {
    if (!/[ -]/.test(written[at] ?? '')) compact++;
  }
  const value = written.slice(0, at).replace(BREAKS, '').replace(/[ -]/g, '');
  if (/[A-Za-z0-9]/.test(text[start + at] ?? '')) return NOTHING;
  return isIban(value) ? [{ start, end: start + at }] : NOTHING;
};

const HOOK =
  /^hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Z0-9]{6,20}\/[A-Za-z0-9]{6,20}\/[A-Za-z0-9/]{20,60}$/;

const webhook: Judge = (text, start, end) => {
  const written = text.slice(start, end);
  const joined = written.replace(BREAKS, '').replace(BLANKS, '');
  return HOOK.test(joined) && realKey(joined, 0, joined.length).length > 0
    ? [{ start, end }]
    : NOTHING;
};

export const BROKEN_CARDS: readonly JudgedExpression[] = [
  {
    expression: String.raw`\b\d(?:[ -]?\d){1,14}[ -]?${BREAK}\d(?:[ -]?\d){1,14}\b`,
    judge: card,
  },
];

export const BROKEN_IBANS: readonly JudgedExpression[] = [
  {
    expression: String.raw`\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){1,29}[ -]?${BREAK}[A-Z0-9](?:[ -]?[A-Z0-9]){0,28}`,
    judge: iban,
  },
];

export const BROKEN_WEBHOOKS: readonly JudgedExpression[] = [
  {
    expression: String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{0,80}${BREAK}[A-Za-z0-9/]{1,80}\b`,
    judge: webhook,
  },
];
