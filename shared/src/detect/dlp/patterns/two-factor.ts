/** What a second factor is made of: the seed of an authenticator, and the codes in its place. */
import { type Judge, type JudgedExpression, NOTHING } from '../builtin-pattern.ts';

/** Base32 without its words, as an authenticator takes it. */
const SEED =
  /^(?=[A-Z2-7]*[2-7])(?=[A-Z2-7]*[A-Z])(?:[A-Z2-7]{16,128}|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15})={0,6}(?![A-Za-z0-9])/i;
const SEED_GAP =
  /^["'`]?(?:[ \t][a-z][a-z ]{0,40})?["'`]?[ \t]{0,2}(?:[:=]|\bis\b)[ \t]{0,2}["'`]?/i;

const seed: Judge = (text, _start, end) => {
  const window = text.slice(end, end + 220);
  const gap = SEED_GAP.exec(window)?.[0];
  if (gap === undefined) return NOTHING;
  const value = SEED.exec(window.slice(gap.length))?.[0] ?? '';
  const isOneCase = value === value.toUpperCase() || value === value.toLowerCase();
  if (!isOneCase || new Set(value).size < 8) return NOTHING;
  return [{ start: end + gap.length, end: end + gap.length + value.length }];
};

/** One code, or several in a row. */
const CODE = String.raw`(?:\d{4,5}[- ]\d{4,5}|\d{8,10}|[a-z0-9]{4,5}-[a-z0-9]{4,5})(?![\w-])`;
const CODES = new RegExp(
  `^["'\`]?(?: (?:is|are))?[ \\t]{0,2}[:=]?[ \\t]{1,2}["'\`]?(${CODE}(?:[,;]?[ \\t]${CODE}){0,11})`,
);
const DATE = /^(?:19|20)\d{6}$/;

const codes: Judge = (text, _start, end) => {
  const [written = '', value = ''] = CODES.exec(text.slice(end, end + 200)) ?? [];
  if ((value.match(/\d/g)?.length ?? 0) < 3 || DATE.test(value)) return NOTHING;
  const to = end + written.length;
  return [{ start: to - value.length, end: to }];
};

export const TWO_FACTOR: readonly JudgedExpression[] = [
  {
    expression: String.raw`(?i)\b(?:[th]?otp|2fa|mfa|authenticator|two[ -]factor)[ _-](?:seed|shared[ _-]secret|set-?up[ _-]key|secret(?:[ _-]key)?)\b`,
    judge: seed,
  },
  {
    expression: String.raw`(?i)\b(?:(?:2fa|mfa|totp|two[ -]factor|account)[ _-](?:backup|recovery|scratch|rescue)|backup|recovery)[ _-]codes?\b`,
    judge: codes,
  },
];
