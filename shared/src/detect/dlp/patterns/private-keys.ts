/** Private keys: in PEM and its relatives, without their heads, as JSON, and of WireGuard. */
import { type Judge, type JudgedExpression, NOTHING } from '../builtin-pattern.ts';
import { entropy, isPlaceholder } from '../validators/secret-value.ts';

/** Characters of a private key. */
const MAX_KEY = 20_000;

/** In a key of PuTTY the secret half stands behind the public one. */
const PUTTY_SECRET =
  /Private-Lines: \d{1,3}(?:\s|\\+[nr]){1,3}(?=[A-Za-z0-9+/]{16})(?:[A-Za-z0-9+/=\s]|\\+[nr])*/;

const puttyKey: Judge = (text, start, end) => {
  const secret = PUTTY_SECRET.exec(text.slice(end, end + MAX_KEY));
  return secret ? [{ start, end: end + secret.index + secret[0].trimEnd().length }] : NOTHING;
};

/** Each on a line of its own. */
const HEADERS =
  /(?<=^|\n|\\n)[ \t]{0,8}(?:Proc-Type|DEK-Info|Comment|Version|Charset|Subject|x-[a-z-]{1,20}): [^\n\\]{0,120}/gi;
const FOOT = /-{4,5} ?END[^\n]{0,60}?-{4,5}/;

/** From a key's header to its footer, or to the end of the text. */
export const privateKey: Judge = (text, start, end) => {
  if (text.startsWith('PuTTY', start)) return puttyKey(text, start, end);
  const body = text.slice(end, end + 400);
  // After the header, prose continues with words, a key with lines of base64.
  const lines = body
    .replace(HEADERS, '')
    .replace(/\\+[nr]|\s/g, ' ')
    .replace(/(?:Proc-Type|DEK-Info|Comment|Version|Charset): [^ ]+/g, ' ');
  const first = /^[ ]*([A-Za-z0-9+/=]{16,})/.exec(lines)?.[1];
  const short = /^ [ ]*([A-Za-z0-9+/=]{4,}\.{0,3}) *(?:-{4,5} ?END|$)/.exec(lines)?.[1];
  const value = first ?? short;
  if (value === undefined || isPlaceholder(value)) return NOTHING;
  const rest = text.slice(end, end + MAX_KEY);
  const foot = FOOT.exec(rest);
  if (foot) return [{ start, end: end + foot.index + foot[0].length }];
  const more = /^(?:[A-Za-z0-9+/=\s]|\\[nr])*/.exec(rest);
  return [{ start, end: end + (more?.[0].length ?? 0) }];
};

/** Characters of a bare key that are read. */
const MAX_BARE = 8_000;
const SHORTEST_REST = 24;

/** The body of a private key without its PEM header: its first bytes identify it. */
const keyBody: Judge = (text, start, end) => {
  const rest = /^(?:[A-Za-z0-9+/=\s]|\\[nr])*/.exec(text.slice(end, end + MAX_BARE))?.[0] ?? '';
  return rest.length < SHORTEST_REST ? NOTHING : [{ start, end: end + rest.trimEnd().length }];
};

/** Distance within which a JSON Web Key names its type. */
const AROUND = 3_000;

/** The private exponent of a JSON Web Key. */
const jsonWebKey: Judge = (text, start, end) => {
  const near = text.slice(Math.max(0, start - AROUND), end + AROUND);
  return /\bkty\\?"?\s?: ?\\?"(?:RSA|EC|OKP)/.test(near) ? [{ start, end }] : NOTHING;
};

const BARE: readonly JudgedExpression[] = [
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

/** `"kty":"oct"`: the key of an HMAC or a cipher, which both sides have. */
const OCT = /\bkty\\{0,3}"?\s?: ?\\{0,3}"oct\b/;
const MAX_JWK = 600;

const octKey: Judge = (text, start, end) => {
  const value = /[A-Za-z0-9_-]+$/.exec(text.slice(start, end))?.[0] ?? '';
  const near = text.slice(Math.max(0, start - MAX_JWK), end + MAX_JWK);
  if (!OCT.test(near) || isPlaceholder(value) || entropy(value) < 3) return NOTHING;
  return [{ start: end - value.length, end }];
};

/** Forty-four characters behind, of which the last is padding. */
const wireGuardKey: Judge = (text, start, end) => {
  const value = /[A-Za-z0-9+/]{42,43}=$/.exec(text.slice(start, end))?.[0] ?? '';
  const isReal = value.length === 44 && entropy(value) >= 4 && !isPlaceholder(value);
  return isReal ? [{ start: end - 44, end }] : NOTHING;
};

const KEY = '[A-Za-z0-9+/]{43}=';

export const PRIVATE_KEYS: readonly (string | JudgedExpression)[] = [
  '-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----',
  '---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----',
  String.raw`PuTTY-User-Key-File-\d: [a-z0-9-]{3,40}`,
  ...BARE,
  {
    expression: String.raw`\bk\\{0,3}"?\s?: ?\\{0,3}"[A-Za-z0-9_-]{20,800}`,
    judge: octKey,
  },
  // wg set wg0 private-key <(echo …), wg pubkey <<< …, echo … | wg pubkey
  {
    expression: String.raw`\b(?:private|preshared)-key {1,2}(?:<\( ?(?:echo|printf)(?: -n)? {1,2}|<<< ?)?["']?${KEY}`,
    judge: wireGuardKey,
  },
  { expression: String.raw`\bwg pubkey ?<<< ?["']?${KEY}`, judge: wireGuardKey },
  {
    expression: String.raw`\b(?:echo|printf)(?: -n)? {1,2}["']?${KEY}["']? ?\| ?(?:sudo )?(?:wg pubkey|tee \S{0,60}private)`,
    judge: (text, start, end) => {
      const key = /[A-Za-z0-9+/]{43}=/.exec(text.slice(start, end));
      const from = start + (key?.index ?? 0);
      return key ? wireGuardKey(text, from, from + 44) : NOTHING;
    },
  },
];
