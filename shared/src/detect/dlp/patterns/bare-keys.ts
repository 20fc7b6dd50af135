/** Credentials in the forms in which files and devices store them, without a label. */
import { type Judge, type JudgedExpression, NOTHING } from '../builtin-pattern.ts';
import { isPlaceholder, isSecretValue } from '../validators/secret-value.ts';

/** Characters of a key that are read. */
const MAX_KEY = 8_000;
const SHORTEST_REST = 24;

/** The body of a private key without its PEM header: its first bytes identify it. */
const keyBody: Judge = (text, start, end) => {
  const rest = /^(?:[A-Za-z0-9+/=\s]|\\[nr])*/.exec(text.slice(end, end + MAX_KEY))?.[0] ?? '';
  return rest.length < SHORTEST_REST ? NOTHING : [{ start, end: end + rest.trimEnd().length }];
};

/** Distance within which a JSON Web Key names its type. */
const AROUND = 3_000;

/** The private exponent of a JSON Web Key. */
const jsonWebKey: Judge = (text, start, end) => {
  const near = text.slice(Math.max(0, start - AROUND), end + AROUND);
  return /\bkty\\?"?\s?: ?\\?"(?:RSA|EC|OKP)/.test(near) ? [{ start, end }] : NOTHING;
};

export const BARE_PRIVATE_KEYS: readonly JudgedExpression[] = [
  {
    expression: String.raw`\bMII[A-Za-z0-9+/]{3}IBA(?:DANBgkqhkiG9w0BAQEFAASC|AKBg[QgY]|AKCA[QgY]E)`,
    judge: keyBody,
  },
  {
    expression: String.raw`\b(?:MI(?:GHAgEAMBMGByqGSM49|G2AgEAMBAGByqGSM49)|MHcCAQEEI|MC4CAQAwBQYDK2VwBCIEI|b3BlbnNzaC1rZXktdjEA)`,
    judge: keyBody,
  },
  { expression: String.raw`\bd\\?"?\s?: ?\\?"[A-Za-z0-9_-]{40,800}`, judge: jsonWebKey },
];

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
