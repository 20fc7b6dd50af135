/** Passwords whose name stands behind them, and passwords that a sentence gives in two halves. */
import { type Judge, type JudgedExpression, NOTHING } from '../builtin-pattern.ts';
import { isMixed, isSecretValue } from '../validators/secret-value.ts';

/** The candidate's first value in quotes, behind `value=` or the first colon. */
const firstValue =
  (sign: RegExp, mustBeMixed: boolean): Judge =>
  (text, start, end) => {
    const candidate = text.slice(start, end);
    const at = candidate.search(sign);
    const [, before = '', value = ''] =
      /^([^=:]*[=:]\s?\\{0,3}["'])([^"'\\\n]{4,128})\\{0,3}["']/.exec(candidate.slice(at)) ?? [];
    if (value === '' || !isSecretValue(value, 'password', 'assigned', true)) return NOTHING;
    if (mustBeMixed && !isMixed(value)) return NOTHING;
    const from = start + at + before.length;
    return [{ start: from, end: from + value.length }];
  };

const OF_A_PASSWORD = /pass(?:word|phrase|wd|code)|\bpwd\b/i;

/** Both halves, if together they are a password and the text says so. */
const halves: Judge = (text, start, end) => {
  const said = text.slice(Math.max(0, start - 80), start) + text.slice(end, end + 80);
  if (!OF_A_PASSWORD.test(said)) return NOTHING;
  const quoted = [...text.slice(start, end).matchAll(/(["'`])([^"'`\s]{3,40})\1/g)];
  const [first, second] = quoted;
  if (!first?.[2] || !second?.[2] || quoted.length !== 2) return NOTHING;
  const value = first[2] + second[2];
  if (!isMixed(value) || !isSecretValue(value, 'password', 'assigned', true)) return NOTHING;
  return [first, second].map(({ index, 2: half = '' }) => ({
    start: start + index + 1,
    end: start + index + 1 + half.length,
  }));
};

const QUOTE = String.raw`\\{0,3}["']`;
const NAME = '(?:[a-z]{2,12}[_.-]?)?(?:password|passwd|passphrase|pwd)';
const HALF = '["\'`][^"\'`\\s]{3,40}["\'`]';

/** The member of an object that ends where its kind is named. */
const MEMBER = new RegExp(
  String.raw`(?:${QUOTE}|\b)(?:p|pw|v|val|value|data|text)(?:${QUOTE})?\s?:\s?${QUOTE}[^"'\n]{6,128}${QUOTE}[\s,\u2028]{1,12}(?:${QUOTE})?$`,
  'i',
);
const MAX_MEMBER = 170;

/** Its value, where it is mixed. */
const memberBefore: Judge = (text, start, end) => {
  const before = text.slice(Math.max(0, start - MAX_MEMBER), start);
  const member = MEMBER.exec(before)?.[0];
  return member === undefined ? NOTHING : firstValue(/:/, true)(text, start - member.length, end);
};

export const NAMED_BEHIND: readonly JudgedExpression[] = [
  {
    expression: String.raw`(?i)<input\b[^<>]{0,80}?\bvalue=${QUOTE}[^"'<>\n]{4,128}${QUOTE}[^<>"']{0,12}?\b(?:name|id|type)=${QUOTE}${NAME}${QUOTE}`,
    judge: firstValue(/\bvalue=/i, false),
  },
  {
    expression: String.raw`(?i)(?:kind|type|label|field|purpose)(?:${QUOTE})?\s?:\s?${QUOTE}${NAME}${QUOTE}`,
    judge: memberBefore,
  },
  {
    expression: String.raw`(?i)\b(?:first|1st) (?:half|part)(?: is)?[ :=]{1,3}${HALF}[ ,;.]{1,3}(?:and )?(?:the )?(?:second|2nd|other) (?:half|part)(?: is)?[ :=]{1,3}${HALF}`,
    judge: halves,
  },
];
