/** Links that open by themselves what they lead to, also cut, and the cookies of a session. */
import { type Judge, type JudgedExpression, NOTHING } from '../builtin-pattern.ts';
import { valueAt } from '../fields.ts';
import { isMonotonous, isSecretValue } from '../validators/secret-value.ts';

/** How far from its signature the other parameters of a link stand. */
const AROUND = 700;

/** The signature's characters; a placeholder has few different ones. */
const MIN_DIFFERENT = 10;

const signature =
  (companions: RegExp): Judge =>
  (text, start, end) => {
    const value = /^[A-Za-z0-9%~_+/-]*={0,2}/.exec(text.slice(end, end + 1_000))?.[0] ?? '';
    const near = text.slice(Math.max(0, start - AROUND), end + value.length + AROUND);
    const isReal = !isMonotonous(value) && new Set(value).size >= MIN_DIFFERENT;
    return isReal && /\d/.test(value) && companions.test(near)
      ? [{ start: end, end: end + value.length }]
      : NOTHING;
  };

/** A shared access signature of Azure: at least its version or end, and its rights or its thing. */
const sharedAccess: Judge = (text, start, end) => {
  const near = text.slice(Math.max(0, start - AROUND), end + AROUND);
  const isOne = /\b(?:sv|se)=20\d\d-/.test(near) && /\b(?:sp|sr|ss|srt)=[a-z]/.test(near);
  const value = text.slice(text.indexOf('=', start) + 1, end);
  return isOne && new Set(value).size >= MIN_DIFFERENT && /\d/.test(value)
    ? [{ start: end - value.length, end }]
    : NOTHING;
};

/** Links of Azure. */
export const SHARED_ACCESS: readonly JudgedExpression[] = [
  { expression: '[?&;]sig=[A-Za-z0-9%+/]{16,100}={0,2}', judge: sharedAccess },
];

/** Links of CloudFront, Google Cloud Storage, S3 and those that sign as these do. */
const SIGNED: readonly JudgedExpression[] = [
  {
    expression: String.raw`\bSignature=`,
    judge: signature(/\b(?:Key-Pair-Id|GoogleAccessId|[A-Z]{2,3}AccessKeyId|Expires|Policy)=\w/),
  },
  {
    expression: String.raw`\b[Xx]-(?:[Gg]oog|[Aa]mz|[Oo]ss|[Cc]os)-[Ss]ignature=`,
    judge: signature(/\bx-(?:goog|amz|oss|cos)-(?:credential|date|expires|algorithm)=\w/i),
  },
];

const SESSION = String.raw`(?:sess|sid\b|auth|token|jwt|remember)[a-z_.-]{0,24}`;

const cookie: Judge = (text, _start, end) => {
  const value = valueAt(text, end, 'assigned');
  const written = value ? text.slice(value.start, value.end).replace(/;.*$/, '') : '';
  return value && isSecretValue(written, 'token', 'assigned', value.quoted)
    ? [{ start: value.start, end: value.start + written.length }]
    : NOTHING;
};

const COOKIES: readonly JudgedExpression[] = [
  { expression: `(?i)\\bcookie: ?[^\\n]{0,200}?${SESSION}=`, judge: cookie },
  { expression: `(?i) --cookie[ =]["']?[^\\n]{0,200}?${SESSION}=`, judge: cookie },
  { expression: `(?i) -b ?["'][^"'\\n]{0,200}?${SESSION}=`, judge: cookie },
];

export const LINKS_AND_COOKIES: readonly JudgedExpression[] = [...SIGNED, ...COOKIES];
