/**
 * Secrets in pieces that a notation puts together: the lines of a YAML scalar, and variables of a
 * shell that are set beside each other.
 */
import { type Judge, type JudgedExpression, NOTHING, type Stretch } from '../builtin-pattern.ts';
import { isMixed, isSecretValue, type SecretKind } from '../validators/secret-value.ts';

/** `key: >-` and lines of one indentation, none of which has blanks. */
const BLOCK_SCALAR =
  /^[\w-]{0,40}["']?[ \t]{0,3}:[ \t]{1,4}[>|][+-]?\d?[+-]?[ \t]{0,3}(?:#[^\n]{0,60})?\r?\n([ \t]{1,16})([^\s#]\S{0,127}(?:\r?\n\1[^\s#]\S{0,127}){0,11})[ \t]{0,2}(?=\r?\n|$)/;
const MAX_SCALAR = 1_700;

/** What a block scalar behind a label holds; its lines are one value. */
export function blockScalar(text: string, labelEnd: number, kind: SecretKind): Stretch | undefined {
  const window = text.slice(labelEnd, labelEnd + MAX_SCALAR);
  const [written, indent = '', lines = ''] = BLOCK_SCALAR.exec(window) ?? [];
  if (written === undefined) return undefined;
  // The next line is a sentence, or the block goes on too long.
  const next = /^\r?\n[^\n]{0,20}/.exec(window.slice(written.length))?.[0].replace(/^\r?\n/, '');
  if (next?.startsWith(indent) && next.trim() !== '') return undefined;
  const value = lines.replace(/\\?\s+/g, '').slice(0, 256);
  if (!isSecretValue(value, kind, 'assigned', false)) return undefined;
  const end = labelEnd + written.trimEnd().length;
  return { start: end - lines.length, end };
}

/** How far before its use a variable may be set. */
const SET_BEFORE = 600;
const NAME = '[A-Za-z_][A-Za-z0-9_]{0,31}';
const REFERENCES = new RegExp(String.raw`\$\{?(${NAME})\}?`, 'g');
const SET = new RegExp(String.raw`(?:^|[\s;&"'])(${NAME})=["']?([^\s"';&$]{1,64})`, 'g');

/** `p1=…; p2=…; export PGPASSWORD="${p1}${p2}"`; the candidate begins at the label's last word. */
const joinedVariables: Judge = (text, wordStart, end) => {
  const before = text.slice(Math.max(0, wordStart - 25), wordStart);
  const label = /(?<!\w)[a-z_]{0,24}$/i.exec(before)?.[0];
  if (label === undefined) return NOTHING;
  const start = wordStart - label.length;
  const written = text.slice(start, end);
  const sign = written.indexOf('=');
  const from = Math.max(0, start - SET_BEFORE);
  const set = new Map<string, Stretch>();
  for (const { 0: all, 1: name = '', 2: value = '', index } of text
    .slice(from, start)
    .matchAll(SET)) {
    const to = from + index + all.length;
    set.set(name, { start: to - value.length, end: to });
  }
  const pieces: Stretch[] = [];
  for (const { 1: name = '' } of written.slice(sign).matchAll(REFERENCES)) {
    const piece = set.get(name);
    if (piece === undefined) return NOTHING;
    pieces.push(piece);
  }
  const value = pieces.map((piece) => text.slice(piece.start, piece.end)).join('');
  const kind = /pass|pwd|pw$/i.test(written.slice(0, sign)) ? 'password' : 'token';
  return value.length <= 256 && isSecretValue(value, kind, 'assigned', false) ? pieces : NOTHING;
};

/** What a variable holds that is set before; the last time counts. */
function heldBy(name: string, text: string, before: number): Stretch | undefined {
  const from = Math.max(0, before - SET_BEFORE);
  const set = new RegExp(
    String.raw`(?<![\w$.])\$?${name}["']?\s{0,3}:?=\s{0,3}(["'])([^"'\n]{5,64})\1`,
    'g',
  );
  const last = [...text.slice(from, before).matchAll(set)].at(-1);
  if (!last) return undefined;
  const end = from + last.index + last[0].length - 1;
  return { start: end - (last[2]?.length ?? 0), end };
}

/** `p = "…" : conn.Open dsn, "sa", p`, `login("ana", p)`; names of hosts and users have no signs. */
const heldByVariable =
  (mustHaveSign: boolean): Judge =>
  (text, start, end) => {
    const [, name = ''] = /\$?([A-Za-z_]\w{0,31})$/.exec(text.slice(start, end)) ?? [];
    const found = name === '' ? undefined : heldBy(name, text, start);
    if (!found) return NOTHING;
    const value = text.slice(found.start, found.end);
    if (mustHaveSign && !/[!#$%&*?~^+=@]/.test(value)) return NOTHING;
    return isMixed(value) && isSecretValue(value, 'password', 'assigned', true) ? [found] : NOTHING;
  };

export const PASSED_VARIABLES: readonly JudgedExpression[] = [
  {
    expression: String.raw`(?i)(?:\.open|\b(?:login|connect|authenticate|sign_?in|mysqli|auth|credentials?))\b ?\(?[^\n()]{1,80}, ?\$?[a-z_][a-z0-9_]{0,31}\b`,
    judge: heldByVariable(true),
  },
  {
    expression: String.raw`(?i)\b(?:password|passwd|pwd|passphrase)["']? ?(?:=>?|:) ?\$?[a-z_][a-z0-9_]{0,31}\b`,
    judge: heldByVariable(false),
  },
];

export const JOINED_VARIABLES: readonly JudgedExpression[] = [
  {
    expression: String.raw`(?i)(?:pass(?:word|wd|phrase)?|pwd|pw|token|secret|key)[a-z_]{0,8}=["']?(?:\$(?:[a-z_][a-z0-9_]{0,31}|\{[a-z_][a-z0-9_]{0,31}\})){2,6}`,
    judge: joinedVariables,
  },
];
