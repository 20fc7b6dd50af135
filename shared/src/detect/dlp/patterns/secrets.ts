import type { BuiltinPattern, Judge, JudgedExpression, Stretch } from '../builtin-pattern.ts';
import { NOTHING } from '../builtin-pattern.ts';
import type { FieldValue } from '../field-value.ts';
import { fieldValues, identifierAround } from '../fields.ts';
import { around, realKey } from '../judges.ts';
import {
  entropy,
  isMixed,
  isPlaceholder,
  isSecretValue,
  type SecretKind,
} from '../validators/secret-value.ts';
import { ANNOUNCED } from './announced.ts';
import { inAnswer } from './answers.ts';
import { PASSWORD_FILES } from './bare-keys.ts';
import { DOOR_CODES } from './door-codes.ts';
import { blockScalar, JOINED_VARIABLES, PASSED_VARIABLES } from './in-pieces.ts';
import { afterEscape, CAMEL_PASSWORD_LABEL, PASSWORD_LABELS, TOKEN_LABELS } from './labels.ts';
import { LINKS_AND_COOKIES, SHARED_ACCESS } from './links.ts';
import { DUMMY_PASSWORDS, LOGINS } from './logins.ts';
import { NAMED_BEHIND } from './named-behind.ts';
import { NEIGHBOURS } from './neighbours.ts';
import { phraseOfLine, phraseSaid } from './phrases.ts';
import { PRIVATE_KEYS, privateKey } from './private-keys.ts';
import {
  isAlias,
  isCredentialsName,
  isFieldsName,
  isInReference,
  isInTemplate,
  isOfPayment,
  isPlace,
  isRequired,
  isSealed,
} from './references.ts';
import { aloneBelow, inReply, SAID_ELSEWHERE, saidBefore } from './said-elsewhere.ts';
import { TWO_FACTOR } from './two-factor.ts';

/** Forty base64 characters after words for AWS's secret. */
const awsSecret: Judge = (text, _start, end) => {
  const window = text.slice(end, end + 140);
  for (const match of window.matchAll(/(?<![A-Za-z0-9/+]|==)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/g)) {
    const value = match[0];
    const isHash = /^[a-f0-9]+$/i.test(value) || !/\d/.test(value);
    if (
      isHash ||
      /EXAMPLE/.test(value) ||
      !/[a-z]/.test(value) ||
      !/[A-Z]/.test(value) ||
      entropy(value) < 4
    )
      continue;
    return [{ start: end + match.index, end: end + match.index + 40 }];
  }
  return NOTHING;
};

/** What a lock file or a web page puts before the hash of a file: as long as such a key. */
const INTEGRITY = /sha(?:256|384|512)[-:=]$/i;
const AZURE_HINT = /azure|storage|account|blob|cosmos|servicebus|eventhub/i;

const azure: Judge = (text, start, end) => {
  if (text.slice(start, end).length > 3) return realKey(text, start, end);
  // The end of a bare key: eighty-eight characters, padding included.
  const from = end - 88;
  const isKey = from >= 0 && /^[A-Za-z0-9+/]{86}==$/.test(text.slice(from, end));
  if (!isKey || /[A-Za-z0-9+/]/.test(text[from - 1] ?? '')) return NOTHING;
  if (INTEGRITY.test(text.slice(Math.max(0, from - 7), from))) return NOTHING;
  return AZURE_HINT.test(around(text, from, end, 80)) ? realKey(text, from, end) : NOTHING;
};

const CLIENT_SECRET = /\b[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}/;

/** Its mark stands behind three characters; the candidate begins at it. */
const clientSecret: Judge = (text, start, end) => {
  const from = Math.max(0, start - 4);
  const secret = CLIENT_SECRET.exec(text.slice(from, end + 37));
  const at = from + (secret?.index ?? 0);
  return secret && at < end ? realKey(text, at, at + secret[0].length) : NOTHING;
};

/** The user of a fresh RabbitMQ, who may only log in from the same machine. */
const LOCAL_GUEST = /^guest@(?:localhost|127\.)/;

/** scheme://user:password@host; the candidate begins at `://`. */
const urlPassword: Judge = (text, start, end) => {
  const scheme = /[A-Za-z][A-Za-z0-9+.-]{0,24}$/.exec(text.slice(Math.max(0, start - 26), start));
  if (!scheme) return NOTHING;
  const rest = text.slice(start + 3, end);
  const at = rest.lastIndexOf('@');
  const password = rest.slice(rest.indexOf(':') + 1, at);
  if (password.length < 3 || password.length > 300) return NOTHING;
  if (DUMMY_PASSWORDS.test(password) || isPlaceholder(password)) return NOTHING;
  if (/[${}<>]/.test(password) && /[$<{%]/.test(password[0] ?? '')) return NOTHING;
  // A program writes it.
  if (password.includes('$(')) return NOTHING;
  if (LOCAL_GUEST.test(`${password}@${text.slice(start + 4 + at, start + 14 + at)}`))
    return NOTHING;
  return [{ start: start - scheme[0].length, end: start + 3 + at + 1 }];
};

const EASY_CONNECT = /\b[A-Za-z][\w$#-]{0,30}\/([^\s/@:"'<>]{4,64})$/;

/** user/password@host:port/service, as Oracle's tools connect; the candidate begins at the host. */
const easyConnect: Judge = (text, start) => {
  const before = text.slice(Math.max(0, start - 97), start);
  const [pair, password = ''] = EASY_CONNECT.exec(before) ?? [];
  if (pair === undefined) return NOTHING;
  const isReal = /\d/.test(password) || (/[a-z]/.test(password) && /[A-Z]/.test(password));
  const isDummy = DUMMY_PASSWORDS.test(password) || isPlaceholder(password);
  return isReal && !isDummy ? [{ start: start - pair.length, end: start + 1 }] : NOTHING;
};

/** Labels for things about a secret, and words that merely contain one. */
const NOT_THE_SECRET =
  /^(?:max|min|num|n|total|next|prev|page|continuation|sync|cursor|pub|csrf|xsrf|input|output|prompt|completion|reset|forgot|change|has|is|no|show|hide|toggle|validate|check|verify|hash|get|set|use|allow|primary(?!_?(?:access|auth|account|admin|master|api|shared|storage|connection|secret|password))|foreign|sort|partition|cache|object|row|registry|host|translation|i18n|idempotency|dedup|bucket)(?:[_-]|(?=[A-Z]))|^pin-sha\d+$/;
const THING_OF_A_SECRET =
  /[_-](?:id|ids|name|type|count|length|len|size|url|uri|path|file|field|policy|expires?|expiry|expiration|at|ttl|label|hint|placeholder|min|max|regex|pattern|param|parameter|version|arn|last_set|enabled|required|reset|rotation|manager|limit|usage|strength|algorithm|alg|encryption|encoding|encoder|hasher|hashing|scheme|method|mechanism|schema|format|store|provider|class|form|input|page|model|hash|hashed|digest|bits|status|error|prefix|age|days|scope|scopes|endpoint|timeout|attempts|retries|window|interval|delay|seconds|minutes|hours|ref|alias|date|budget|cost|sent|requested|confirmed|succeeded|failed|failure|completed|screen|button|title)$|^public[_-]/;
/** A header by which caches and queues find things. */
const KEY_OF_A_THING =
  /^x-(?:[a-z]{2,8}-)?(?:cache|surrogate|request|trace|correlation|idempotency|dedup|sort|partition|routing|shard)-key$/i;
const inSnakeCase = (label: string): string =>
  label.replace(/([a-z\d])(?=[A-Z])/g, '$1_').toLowerCase();

function isNotTheSecret(label: string): boolean {
  return (
    NOT_THE_SECRET.test(label) ||
    THING_OF_A_SECRET.test(inSnakeCase(label)) ||
    KEY_OF_A_THING.test(label)
  );
}

const ABOUT_IT = /(?:tokens|Tokens|TOKENS|tokeni[sz]\w*|keyboard|secretary|passenger|keys)$/;

const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** "12文字以上で、…": what continues in such letters after a few others is no value. */
function goesOn(written: string): boolean {
  const at = written.search(EAST_ASIAN);
  return at >= 0 && at < 6;
}

/** "user bob, pass hunter2", and not "pass bzip2 to it" or "Pin ubuntu-26.04". */
const isSaid = (text: string, start: number, written: string): boolean =>
  /\d/.test(written) &&
  !/\w\/\w/.test(written) &&
  (isMixed(written) || /user|login|name|^\d+$/i.test(text.slice(Math.max(0, start - 40), start)));

const isDocstring = (text: string, { start }: FieldValue): boolean =>
  /^(["'])\1\1$/.test(text.slice(Math.max(0, start - 3), start));

/** In code, `_pat` also ends the name of an expression or of a pattern for files. */
const isOtherPattern = (label: string, written: string): boolean =>
  /[_-]pat$/i.test(label) && !/^[\w+/=-]{16,}$/.test(written);

/** `foo(dest=` on the line below a comment. */
const CALL = /^[A-Za-z_][\w.]{0,60}\((?:[\w.]{0,40}=)?$/;

/** `Bearer <password>'`: what a reader puts in its place. Behind an element's name its value begins. */
const isSlot = (text: string, start: number, end: number): boolean =>
  /<[\w.-]{0,40}$/.test(text.slice(Math.max(0, start - 42), start)) &&
  /^[\w.-]{0,40}>(?:$|["'`\s])/.test(text.slice(end, end + 42)) &&
  !text.slice(end, end + 400).includes('</');

function secretLabel(kind: SecretKind): Judge {
  return (text, start, end) => {
    const label = identifierAround(text, start, end);
    // <your-token-here>
    if (/[_-]here$/i.test(label)) return NOTHING;
    if (isNotTheSecret(label) || isRequired(text, start, end)) return NOTHING;
    if (isInTemplate(text, start) || isSlot(text, start, end)) return NOTHING;
    if (kind === 'token' && ABOUT_IT.test(label)) return NOTHING;
    const before = text.slice(Math.max(0, start - 120), start);
    // No name in a vault has the sign of an assignment behind a label.
    const isAssigned = /^\w{0,40}=/.test(text.slice(end, end + 42));
    if (isInReference(before, isAssigned)) return NOTHING;
    const lines = blockScalar(text, end, kind);
    if (lines) return [lines];
    const isField = isFieldsName(before);
    const found: Stretch[] = [];
    const isVerb = /^(?:pass|pin)$/i.test(label);
    const isPin = /(?:^|[_-])pin$/i.test(label);
    for (const value of fieldValues(text, end)) {
      const mayBeWords =
        kind === 'password' && (value.link === 'assigned' || value.link === 'prose');
      const words = mayBeWords ? phraseOfLine(text, value.start) : undefined;
      if (words) {
        found.push(words);
        break;
      }
      const written = text.slice(value.start, value.end);
      // "pass: 12, fail: 3" are counts, and `this` may be passed to a "pass".
      if (isVerb && /^\d+$/.test(written) && /^pass$/i.test(label)) continue;
      // A table of counts, one a row.
      if (!value.quoted && /(?:words|pwds|codes|secrets)$/i.test(label) && /^\d+$/.test(written))
        continue;
      const isLoose = value.link === 'prose' || value.link === 'adjacent';
      // "el PIN es 4711"; six digits may be a postal code of India.
      const isNumber = text.slice(start, end) === 'PIN' && /^(?:\d{4,5}|\d{8})$/.test(written);
      if (isVerb && isLoose && !isNumber && !isSaid(text, start, written)) continue;
      if (isOtherPattern(label, written) || isAlias(text, value)) continue;
      if (isCredentialsName(label, written, value)) continue;
      if ((isField && value.link === 'adjacent') || isPlace(text, value)) continue;
      if (value.link !== 'assigned' && !value.quoted && CALL.test(written)) continue;
      // In languages without spaces, a sentence about passwords goes on.
      if (!value.quoted && goesOn(written)) continue;
      // A PIN has digits, and a docstring describes what it stands behind.
      if (!/\d/.test(written) && (isPin || isDocstring(text, value))) continue;
      const after = text.slice(value.end, value.end + 1);
      if (isSecretValue(written, kind, value.link, value.quoted, after)) {
        if (isSealed(text, value) || isOfPayment(text, value)) continue;
        found.push({ start: value.start, end: value.end });
        if (value.link !== 'column') break;
      }
    }
    if (found.length > 0) return found;
    const phrase = kind === 'password' ? phraseSaid(text, start, end) : undefined;
    if (phrase) return [phrase];
    const said = kind === 'password' ? saidBefore(text, start, end) : NOTHING;
    if (said.length > 0) return said;
    const answer = kind === 'password' ? inAnswer(text, start, end) : NOTHING;
    if (answer.length > 0) return answer;
    const replied = inReply(text, end);
    return replied.length > 0 ? replied : aloneBelow(text, start, end);
  };
}

const PASSWORD = secretLabel('password');

/** `jdbcPwd`, `userPw`: other expressions find a word that begins so. */
const camelPassword: Judge = (text, start, end) =>
  /^[A-Za-z_]{1,24}[a-z]\d?(?:Pwd|PWD|Pw|PW)$/.test(identifierAround(text, start, end))
    ? PASSWORD(text, start, end)
    : NOTHING;

/** "opens with the PIN 4711"; in India, PIN is what a postal code is called. */
const spokenPin: Judge = (text, start, end) =>
  /\b(?:the|your|my|our|new|door|alarm|safe|sim|card|gate|mit|der|die|den|le|el|il|de|with) $/i.test(
    text.slice(Math.max(0, start - 8), start),
  )
    ? [{ start: start + 'PIN '.length, end }]
    : NOTHING;

/** A personal access token of Azure DevOps. */
const personalToken: Judge = (text, _start, end) => {
  const from = end - 8;
  const to = from + (/^[a-z0-9]+/i.exec(text.slice(from, from + 100))?.[0].length ?? 0);
  return to - from >= 40 ? realKey(text, from, to) : NOTHING;
};

const SECRET_ASSIGNMENTS: readonly JudgedExpression[] = [
  ...PASSWORD_LABELS.map((label) => ({
    expression: afterEscape(label),
    judge: PASSWORD,
  })),
  { expression: CAMEL_PASSWORD_LABEL, judge: camelPassword },
  ...TOKEN_LABELS.map((label) => ({ expression: afterEscape(label), judge: secretLabel('token') })),
  ...LOGINS,
  { expression: String.raw`\bPIN \d{4,8}\b`, judge: spokenPin },
  { expression: String.raw`(?i)\bpat["']? ?[:=] ?["']?[a-z0-9]{8}`, judge: personalToken },
];

export const SECRETS: readonly BuiltinPattern[] = [
  {
    name: 'aws_secret_access_key',
    severity: 'critical',
    description: 'Secret access key of Amazon Web Services.',
    expressions: [
      String.raw`(?i)aws[ _.-]{0,3}(?:secret|sk\b)|secret[ _-]?access[ _-]?key|aws[ _-]?key|aws[ _-]cred|\bakia[a-z0-9]{16}\b|\basia[a-z0-9]{16}\b|secretkey|secret[ _-]key`,
    ],
    validator: 'forty characters of mixed case behind a word for it',
    judge: awsSecret,
  },
  {
    name: 'azure_secret',
    severity: 'critical',
    description: 'Azure storage or bus key, shared access signature, client secret.',
    expressions: [
      String.raw`(?i)\b(?:AccountKey|SharedAccessKey|SharedSecretValue)=[A-Za-z0-9+/]{40,90}={0,2}`,
      // A personal access token of Azure DevOps has a mark near its end.
      String.raw`\b[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b`,
      '[?&;]sig=[A-Za-z0-9%+/]{30,100}={0,2}',
      { expression: '[0-9]Q~[A-Za-z0-9_~.-]{31,34}', judge: clientSecret },
      '[A-Za-z0-9+/]==',
      ...SHARED_ACCESS,
    ],
    validator: 'a bare key only beside a word for storage',
    judge: azure,
  },
  {
    name: 'private_key',
    severity: 'critical',
    description: 'Private key: PEM, also without its head, OpenSSH, PGP, PuTTY, JSON Web Key.',
    expressions: [...PRIVATE_KEYS],
    validator: 'key data behind the head',
    judge: privateKey,
  },
  {
    name: 'connection_string',
    severity: 'critical',
    description: 'URL with a user and a password.',
    expressions: [
      String.raw`://[^\s:/@"'<>]*:[^\s/@"'<>]+@[A-Za-z0-9_.\[-]`,
      String.raw`://[^\s:/@"'<>]+:[^\s/@"'<>0-9][^\s"'<>]*@[A-Za-z0-9_.-]+[:/]`,
      {
        expression: String.raw`@[A-Za-z0-9_.-]{1,120}:\d{2,5}/[A-Za-z]`,
        judge: easyConnect,
      },
    ],
    validator: 'a password that is not a placeholder',
    judge: urlPassword,
  },
  {
    name: 'secret_assignment',
    severity: 'high',
    description:
      'Password, token or key that is assigned to a word for it, in code, configuration, tables or prose; credentials of an Authorization header.',
    expressions: [
      ...SECRET_ASSIGNMENTS,
      ...ANNOUNCED,
      ...DOOR_CODES,
      ...SAID_ELSEWHERE,
      ...LINKS_AND_COOKIES,
      ...NEIGHBOURS,
      ...NAMED_BEHIND,
      ...TWO_FACTOR,
      ...JOINED_VARIABLES,
      ...PASSED_VARIABLES,
      ...PASSWORD_FILES,
    ],
    validator: 'a value that can be a secret: no placeholder, no code, no word of the language',
  },
];
