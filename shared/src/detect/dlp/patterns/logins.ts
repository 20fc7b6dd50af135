/** Pairs of a user and a password, and the credentials of a request. */
import { type Judge, type JudgedExpression, NOTHING } from '../builtin-pattern.ts';
import { isMixed, isPlaceholder, isSecretValue } from '../validators/secret-value.ts';
import { isNoLogin } from '../validators/user-option.ts';
import { isFieldsName } from './references.ts';

/** What examples write in a password's place. */
export const DUMMY_PASSWORDS =
  /^(?:(?:some|my|your)?(?:pass|passwd|password|pwd|secret)|pw|p|user|username|\*+|x+|changeme|example)$/i;

/** The examples of RFC 7617: Aladdin's, and one in UTF-8. */
const OF_A_STANDARD: ReadonlySet<string> = new Set([
  'QWxhZGRpbjpvcGVuIHNlc2FtZQ==',
  'dGVzdDoxMjPCow==',
]);

/** The credentials of an Authorization header, or of curl's -u. */
const authorization: Judge = (text, start, end) => {
  const rest = /^[ \t]{1,4}["']?((?:[^\s"'`,;<>\\]|\\\/){6,})/.exec(text.slice(end, end + 600));
  if (!rest?.[1] || isFieldsName(text.slice(Math.max(0, start - 12), start))) return NOTHING;
  const from = end + rest[0].length - rest[1].length;
  // In JSON a slash may be escaped; other escapes end the line.
  const value = rest[1].replaceAll('\\/', '/');
  const isBasic = /^basic$/i.test(text.slice(start, end));
  if (isBasic && OF_A_STANDARD.has(value)) return NOTHING;
  // The parameters of a challenge: Bearer resource_metadata="…".
  if (!isBasic && /^[a-z_]+=/.test(value)) return NOTHING;
  const looksMade = isBasic
    ? /^[A-Za-z0-9+/]{8,}={0,2}$/.test(value) &&
      /[A-Z]/.test(value) &&
      /[a-z\d]/.test(value) &&
      /\d|=$/.test(value)
    : isSecretValue(value, 'token', 'assigned', false) && value.length >= 16;
  return looksMade ? [{ start: from, end: from + rest[1].length }] : NOTHING;
};

const userPassword: Judge = (text, start, end) => {
  const pair = text.slice(start, end);
  const colon = pair.indexOf(':');
  const password = pair.slice(colon + 1).replace(/^["']|["']$/g, '');
  if (isNoLogin(text.slice(Math.max(0, start - 300), start), pair)) return NOTHING;
  const from = start + colon + 1 + (/["']/.test(pair[colon + 1] ?? '') ? 1 : 0);
  return DUMMY_PASSWORDS.test(password) || isPlaceholder(password) || /^[${<]/.test(password)
    ? NOTHING
    : [{ start: from, end: from + password.length }];
};

/** user / password: the candidate ends with the password. */
const pairedPassword: Judge = (text, start, end) => {
  const password = text.slice(start, end).split('/').at(-1)?.trim() ?? '';
  const isReal = isMixed(password) && isSecretValue(password, 'password', 'assigned', false);
  return isReal ? [{ start: end - password.length, end }] : NOTHING;
};

const NO_ACCOUNT =
  /^(?:mailto|e-?mail|mail|contact|author|from|to|b?cc|sender|recipient|reply-to|sips?|xmpp|acct|by|user|username|login|owner|assignee|maintainer|sha\d+)$/i;

/** root:password@host without a scheme. */
const hostPassword: Judge = (text, start, end) => {
  const [, user = '', password = ''] = /^([^:]+):(.+)@/.exec(text.slice(start, end)) ?? [];
  // After :// it is a connection string.
  if (NO_ACCOUNT.test(user) || /[/:@.-]$/.test(text.slice(Math.max(0, start - 1), start)))
    return NOTHING;
  // root:password@tcp(host:3306)/db is a connection of MySQL in Go, whatever the password is.
  const isMade = text[end - 1] === '(' ? /\d/.test(password) : isMixed(password);
  const isReal = isMade && isSecretValue(password, 'password', 'assigned', false);
  const from = start + user.length + 1;
  return isReal ? [{ start: from, end: from + password.length }] : NOTHING;
};

export const LOGINS: readonly JudgedExpression[] = [
  { expression: String.raw`(?i)\b(?:bearer|basic|digest|apikey|token)\b`, judge: authorization },
  {
    expression: String.raw`(?:\s|^)(?:-u|--user|--proxy-user)[ =]["']?[A-Za-z0-9_.@-]{1,64}:["']?[^\s"']{4,128}`,
    judge: userPassword,
  },
  {
    expression: String.raw`(?i)\b(?:user(?:name)?|login|creds?|credentials|account|pass(?:word)?)\)?(?: are)?(?:[ \t]?[:=])?[ \t]{1,3}[a-z0-9_.@-]{2,40} ?/ ?[^\s"'/,;<>()]{6,64}`,
    judge: pairedPassword,
  },
  {
    expression: String.raw`(?i)\b(?:login|log-?in|creds?|credentials|account|zugangsdaten|zugang|identifiants|acc[eè]s|credenciales|credenziali|acceso|inloggegevens|dane logowania)\b[^\n/:=.]{1,48}(?: (?:is|are|ist|sind|lautet|lauten|est|sont|es|son|[eè]|sono|zijn|to)|[:=])[ \t]{1,3}[a-z0-9_.@-]{2,40} ?/ ?[^\s"'/,;<>()]{6,64}`,
    judge: pairedPassword,
  },
  {
    expression: String.raw`\b[A-Za-z][A-Za-z0-9_.-]{1,31}:[^\s:/@"'<>]{6,64}@(?:\d{1,3}(?:\.\d{1,3}){3}\b|(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}\b|(?:tcp|unix)\()`,
    judge: hostPassword,
  },
];
