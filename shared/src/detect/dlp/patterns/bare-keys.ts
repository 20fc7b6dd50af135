/** Credentials in the forms in which files and devices store them, without a label. */
import { type Judge, type JudgedExpression, NOTHING } from '../builtin-pattern.ts';
import { isPlaceholder, isSecretValue } from '../validators/secret-value.ts';

/** A line of a password file: the hash after the name. */
const hashLine: Judge = (text, start, end) =>
  /\w/.test(text[start - 1] ?? '') && !isPlaceholder(text.slice(start + 1, end))
    ? [{ start: start + 1, end }]
    : NOTHING;

/** The last field of a line of .pgpass, and the password in a Wi-Fi QR code. */
const lastField: Judge = (text, start, end) => {
  const from = start + text.slice(start, end).lastIndexOf(':') + 1;
  const value = text.slice(from, end);
  return isSecretValue(value, 'password', 'assigned', false) ? [{ start: from, end }] : NOTHING;
};

export const PASSWORD_FILES: readonly JudgedExpression[] = [
  {
    expression: String.raw`:\$(?:[156y]|apr1|2[aby])\$[./A-Za-z0-9$=,-]{20,200}`,
    judge: hashLine,
  },
  {
    expression: String.raw`:(?:5432|5433|6432|\*):[^:\s]{1,64}:[^:\s]{1,64}:[^:\s]{6,64}`,
    judge: lastField,
  },
  { expression: String.raw`\bWIFI:[^\n]{0,80}P:[^;:\n]{6,63}`, judge: lastField },
];
