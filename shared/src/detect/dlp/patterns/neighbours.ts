/**
 * Secrets that a neighbouring field tells of: the type of a resource in a state of Terraform, the
 * name or the rights of a key in what a cloud's command prints, the name of a cookie in a log of HTTP.
 */
import { type Judge, type JudgedExpression, NOTHING, type Stretch } from '../builtin-pattern.ts';
import { valueAt } from '../fields.ts';
import { entropy, isMixed, isPlaceholder, isSecretValue } from '../validators/secret-value.ts';

/** Within one object; in a document of leaves (../json-document.ts) nothing shows where it ends. */
const AHEAD = 400;

/** Random base64 or letters and digits, as a cloud makes its keys. */
const isCloudKey = (value: string): boolean =>
  /^[A-Za-z0-9+/_-]{32,128}={0,2}$/.test(value) &&
  isMixed(value) &&
  /[a-z]/.test(value) &&
  /[A-Z]/.test(value) &&
  entropy(value) >= 4 &&
  !isPlaceholder(value);

const isMade = (value: string): boolean => isSecretValue(value, 'password', 'assigned', true);

/** The members of these names in a slice that begins at `at`, up to `most`. */
function members(
  text: string,
  at: number,
  slice: string,
  names: RegExp,
  isOne: (value: string) => boolean,
): readonly Stretch[] {
  const found: Stretch[] = [];
  for (const { 0: written, index } of slice.matchAll(names)) {
    const value = valueAt(text, at + index + written.length, 'assigned');
    if (value?.quoted && isOne(text.slice(value.start, value.end))) {
      found.push({ start: value.start, end: value.end });
    }
  }
  return found;
}

/** Up to the next resource. */
const STATE = 4_000;
const RESULT = /(?<![\w-])(?:result|base64|hex)\\?["']?\s{0,3}[:=]\s{0,3}(?=\\?["'])/g;
const NEXT_RESOURCE =
  /\\?["']?\bmode\\?["']?\s?:\s?\\?["'](?:managed|data)\b|\nresource "|\brandom_(?:password|string|bytes)\b/;

/** `random_password`: what it made is its attribute `result`, in each instance. */
const randomPassword: Judge = (text, _start, end) => {
  const window = text.slice(end, end + STATE);
  const next = NEXT_RESOURCE.exec(window.slice(1));
  return members(text, end, next ? window.slice(0, next.index + 1) : window, RESULT, isMade);
};

const VALUE = /(?<![\w-])[Vv]alue\\?["']?\s{0,3}:\s{0,3}(?=\\?["'])/g;

/** `"sensitive": true` beside `"value": "…"`, whatever the output is called. */
const sensitive: Judge = (text, start, end) => {
  const before =
    text
      .slice(Math.max(0, start - AHEAD), start)
      .split(/[{}]/)
      .at(-1) ?? '';
  const [behind = ''] = text.slice(end, end + AHEAD).split(/[{}]/);
  return [
    ...members(text, start - before.length, before, VALUE, isMade),
    ...members(text, end, behind, VALUE, isMade),
  ];
};

/** `"keyName": "key1"`: the key is the value. */
const namedKey: Judge = (text, _start, end) => {
  const [behind = ''] = text.slice(end, end + AHEAD).split(/[{}]/);
  return members(text, end, behind, VALUE, isCloudKey).slice(0, 1);
};

/** A table of the same: the candidate ends where the key begins. */
const keyInTable: Judge = (text, start, end) => {
  const value = /\S+$/.exec(text.slice(start, end))?.[0] ?? '';
  const more = /^[A-Za-z0-9+/=]*/.exec(text.slice(end, end + 120))?.[0] ?? '';
  return isCloudKey(value + more)
    ? [{ start: end - value.length, end: end + more.length }]
    : NOTHING;
};

/** `primaryKey`: in a database the name of a column, here a key. */
const primaryKey: Judge = (text, _start, end) => {
  const value = valueAt(text, end, 'assigned');
  return value && isCloudKey(text.slice(value.start, value.end))
    ? [{ start: value.start, end: value.end }]
    : NOTHING;
};

/** `{"key1": "…", "key2": "…"}` of hex: two of one length. */
const twoKeys: Judge = (text, start, end) => {
  const pair = /^\D+\d\D+?([A-Za-z0-9]{32,100})\b\D+\d\D+?([A-Za-z0-9]{32,100})$/;
  const [written, first = '', second = ''] = pair.exec(text.slice(start, end)) ?? [];
  if (written === undefined || first.length !== second.length || first === second) return NOTHING;
  const at = start + written.indexOf(first);
  return [first, second].every((key) => /\d/.test(key) && entropy(key) >= 3)
    ? [
        { start: at, end: at + first.length },
        { start: end - second.length, end },
      ]
    : NOTHING;
};

/** A parameter or a secret that a service stores in plain text: the value is a member ahead. */
const storedSecret: Judge = (text, _start, end) => {
  const [behind = ''] = text.slice(end, end + AHEAD).split(/[{}]/);
  return members(text, end, behind, VALUE, isMade).slice(0, 1);
};

/** A field of a page that a browser fills in: its selector says that it takes a password. */
const filledField: Judge = (text, _start, end) => {
  const [behind = ''] = text.slice(end, end + AHEAD).split(/[{}]/);
  return members(text, end, behind, FILLED, isMade).slice(0, 1);
};
const FILLED =
  /(?<![\w-])(?:value|text|keys|input|content)\\{0,3}["']?\s{0,3}:\s{0,3}(?=\\{0,3}["'])/g;

const PLAINTEXT = /(?<![\w-])Plaintext\\?["']?\s{0,3}:\s{0,3}(?=\\?["'])/g;

/** A data key, beside its ciphertext. */
const dataKey: Judge = (text, start, end) => {
  const from = Math.max(0, start - AHEAD);
  return members(text, from, text.slice(from, end + 2 * AHEAD), PLAINTEXT, isCloudKey);
};

const SESSION = String.raw`(?:[a-z0-9_.-]{0,24}(?:sess|sid\b|auth|token|jwt|remember)[a-z0-9_.-]{0,24})`;

/** The value of a cookie whose name the candidate ends with. */
const namedCookie: Judge = (text, _start, end) => {
  const value = valueAt(text, end, 'assigned');
  const written = value ? text.slice(value.start, value.end).replace(/;.*$/, '') : '';
  return value && written.length >= 12 && isSecretValue(written, 'token', 'assigned', value.quoted)
    ? [{ start: value.start, end: value.start + written.length }]
    : NOTHING;
};

/** Between two members of JSON, also within a string, and between two leaves of a document. */
const QUOTE = String.raw`\\{0,3}["']?`;
const BETWEEN = String.raw`${QUOTE}[\s,\x{2028}]{1,24}`;
const IS = String.raw`${QUOTE}\s?:\s?${QUOTE}`;

export const NEIGHBOURS: readonly JudgedExpression[] = [
  {
    expression: String.raw`(?i)type=\\{0,4}["']?password\b|[#.](?:user|login|admin|new)?[_-]?(?:password|passwd|pwd)\b`,
    judge: filledField,
  },
  { expression: String.raw`\brandom_(?:password|string|bytes)\b`, judge: randomPassword },
  { expression: String.raw`\bsensitive\\{0,3}["']\s{0,3}:\s{0,3}true\b`, judge: sensitive },
  { expression: String.raw`\b[Kk]ey_?[Nn]ame${IS}[A-Za-z]`, judge: namedKey },
  {
    expression: String.raw`(?i)\b(?:key[12]|primary|secondary)[ \t|]{1,20}(?:full|read)[ \t|]{1,20}[A-Za-z0-9+/]{32}`,
    judge: keyInTable,
  },
  {
    expression: String.raw`(?i)\b(?:(?:primary|secondary)_?(?:readonly_?)?(?:master_?|access_?|shared_?|storage_?|account_?|admin_?)?key|key_?(?:string|material|value))\\{0,3}["']?[ \t]{0,8}[:=]`,
    judge: primaryKey,
  },
  {
    expression: String.raw`\bkey1${IS}[A-Za-z0-9]{32,100}${BETWEEN}${QUOTE}key2${IS}[A-Za-z0-9]{32,100}`,
    judge: twoKeys,
  },
  { expression: String.raw`\bSecureString\b`, judge: storedSecret },
  { expression: String.raw`\bvault\.azure\.net/secrets/`, judge: storedSecret },
  { expression: String.raw`\bCiphertextBlob\b`, judge: dataKey },
  // A log of HTTP: the header, and the cookie by itself.
  {
    expression: String.raw`(?i)\bcookie${BETWEEN}${QUOTE}value${IS}[^"\n]{0,400}?${SESSION}=`,
    judge: namedCookie,
  },
  {
    expression: String.raw`(?i)\bname${IS}${SESSION}${BETWEEN}(?:${QUOTE}[a-z]{2,12}${IS}[^\n,:"]{1,40}${BETWEEN}){0,3}?${QUOTE}value${QUOTE}\s?:`,
    judge: namedCookie,
  },
];
