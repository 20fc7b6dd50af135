/** Whether a condition is true for every row: `1=1` bounds nothing. */
import type { Effort } from '../../../glob.ts';
import type { SqlToken } from './sql-token.ts';

type Truth = boolean | undefined;

/** Deeper ones count as conditions. */
const MAX_DEPTH = 40;

/** @returns undefined when it depends on the row, or is unknown */
export function truthOf(tokens: readonly SqlToken[], effort: Effort, depth = 0): Truth {
  // Each level looks at all of them several times.
  effort.left -= 4 * tokens.length;
  if (depth > MAX_DEPTH || tokens.length === 0 || effort.left < 0) return undefined;
  if (isWrapped(tokens)) return truthOf(tokens.slice(1, -1), effort, depth + 1);
  if (isCase(tokens)) return truthOfCase(tokens, effort, depth);
  const either = splitAt(tokens, ['OR', '||']);
  if (either.length > 1) {
    if (haveBothOfNull(either)) return true;
    return any(either.map((part) => truthOf(part, effort, depth + 1)));
  }
  const both = splitAt(tokens, ['AND', '&&']);
  if (both.length > 1) return all(both.map((part) => truthOf(part, effort, depth + 1)));
  const [first] = tokens;
  if ((first?.kind === 'word' && first.text === 'NOT') || first?.text === '!') {
    const inner = truthOf(tokens.slice(1), effort, depth + 1);
    return inner === undefined ? undefined : !inner;
  }
  if (tokens.length === 1) return truthOfOne(first as SqlToken);
  return truthOfCall(tokens) ?? truthOfRange(tokens) ?? compare(tokens);
}

function any(truths: readonly Truth[]): Truth {
  if (truths.includes(true)) return true;
  return truths.includes(undefined) ? undefined : false;
}

function all(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false;
  return truths.includes(undefined) ? undefined : true;
}

/** Whether one condition is that something is NULL, and another that it is not. */
function haveBothOfNull(parts: readonly (readonly SqlToken[])[]): boolean {
  const [is, isNot] = [new Set<string>(), new Set<string>()];
  for (const part of parts) {
    const inner = unwrapped(part);
    const ending = textOf(inner.slice(-3));
    if (ending === 'word:IS word:NOT word:NULL') isNot.add(textOf(unwrapped(inner.slice(0, -3))));
    else if (ending.endsWith('word:IS word:NULL')) is.add(textOf(unwrapped(inner.slice(0, -2))));
  }
  return is.size > 0 && [...isNot].some((text) => is.has(text));
}

function truthOfOne({ kind, text }: SqlToken): Truth {
  if (kind === 'number') return Number(text) !== 0;
  if (kind === 'text') return Number(text) !== 0 && !Number.isNaN(Number(text));
  if (kind !== 'word') return undefined;
  if (text === 'TRUE') return true;
  return text === 'FALSE' || text === 'NULL' ? false : undefined;
}

/** Functions that give the first of their arguments that is not NULL. */
const FIRST_SET = new Set(['COALESCE', 'IFNULL', 'NVL']);
/** What leaves open whether a query gives a row. */
const LIMITS_ROWS = new Set(['FROM', 'WHERE', 'HAVING', 'LIMIT', 'OFFSET', 'FETCH', 'TOP']);

/** Of `EXISTS (SELECT 1)` and `COALESCE(1, 0)`. */
function truthOfCall([called, ...rest]: readonly SqlToken[]): Truth {
  if (called?.kind !== 'word' || !isWrapped(rest)) return undefined;
  const inner = rest.slice(1, -1);
  if (called.text === 'EXISTS') {
    const isOfOneRow =
      inner[0]?.text === 'SELECT' && !inner.some((one) => isOneOf(one, LIMITS_ROWS));
    return isOfOneRow || undefined;
  }
  const [first, ...more] = constantOf([called, ...rest]);
  return first === undefined || first === called || more.length > 0 ? undefined : truthOfOne(first);
}

/** What a call of `COALESCE` gives that has a literal before all else; other tokens as they are. */
function constantOf(tokens: readonly SqlToken[]): readonly SqlToken[] {
  const [called, ...rest] = tokens;
  if (called?.kind !== 'word' || !FIRST_SET.has(called.text) || !isWrapped(rest)) return tokens;
  const parts = splitAt(rest.slice(1, -1), [',']);
  const first = parts.find((part) => textOf(part) !== 'word:NULL');
  return first?.length === 1 ? first : tokens;
}

/** Whether all of it is one `CASE WHEN … END`. */
function isCase(tokens: readonly SqlToken[]): boolean {
  if (tokens[0]?.text !== 'CASE' || tokens[1]?.text !== 'WHEN') return false;
  let depth = 0;
  const end = tokens.findIndex(({ kind, text }) => {
    if (kind !== 'word') return false;
    if (text === 'CASE') depth++;
    return text === 'END' && --depth === 0;
  });
  return end === tokens.length - 1;
}

/** Of each branch that may be taken, where all of them say the same. */
function truthOfCase(tokens: readonly SqlToken[], effort: Effort, depth: number): Truth {
  const [, ...branches] = splitAt(tokens.slice(1, -1), ['WHEN', 'ELSE']);
  const isElse = splitAt(tokens.slice(1, -1), ['ELSE']).length > 1;
  const truths: Truth[] = [];
  for (const [at, branch] of branches.entries()) {
    const [condition = [], value] = splitAt(branch, ['THEN']);
    const isLast = isElse && at === branches.length - 1;
    const truth = isLast ? true : truthOf(condition, effort, depth + 1);
    if (truth === false) continue;
    truths.push(truthOf(isLast ? branch : (value ?? []), effort, depth + 1));
    if (truth === true) return truths.every((one) => one === truths[0]) ? truths[0] : undefined;
  }
  // Without an ELSE it is NULL then.
  return truths.some((one) => one !== false) ? undefined : false;
}

const isOneOf = (one: SqlToken | undefined, words: ReadonlySet<string>): boolean =>
  one?.kind === 'word' && words.has(one.text);

const RANGES = new Set(['IN', 'BETWEEN']);

/** Of `1 IN (1)`, `id IN (SELECT id)` and `id BETWEEN id AND id`. */
function truthOfRange(tokens: readonly SqlToken[]): Truth {
  const at = tokens.findIndex((one) => isOneOf(one, RANGES));
  const left = unwrapped(tokens.slice(0, Math.max(at, 0)));
  const isIn = tokens[at]?.text === 'IN';
  const right = tokens.slice(at + 1);
  if (isIn && selectsItself(left, right)) return true;
  const [one] = left;
  if (one === undefined || left.length > 1) return undefined;
  const parts = splitAt(isIn ? unwrapped(right) : right, [isIn ? ',' : 'AND']).map(unwrapped);
  const isTrue = (part: readonly SqlToken[] | undefined, sign: string) =>
    part !== undefined && part.length > 0 && compareTexts(left, sign, part) === true;
  if (isIn) return parts.some((part) => isTrue(part, '=')) || undefined;
  const [least, most] = parts;
  return (parts.length === 2 && isTrue(least, '>=') && isTrue(most, '<=')) || undefined;
}

const SIGNS = new Set(['=', '==', '<>', '!=', '<', '>', '<=', '>=', 'LIKE', 'ILIKE', 'IS']);

function compare(tokens: readonly SqlToken[]): Truth {
  const at = tokens.findIndex(
    ({ kind, text }) => (kind === 'sign' || kind === 'word') && SIGNS.has(text),
  );
  if (at < 1) return undefined;
  const sign = (tokens[at] as SqlToken).text;
  const left = constantOf(unwrapped(tokens.slice(0, at)));
  const right = constantOf(unwrapped(tokens.slice(at + 1)));
  if (sign === '=' && isOneOf(tokens[at + 1], SOME) && selectsItself(left, tokens.slice(at + 2))) {
    return true;
  }
  if (isExtreme(left, sign, right)) return true;
  return holdsForEveryKey(left, sign, right) || compareTexts(left, sign, right);
}

const SOME = new Set(['ANY', 'SOME']);

/** Whether a query without a table gives the columns that it is compared with. */
function selectsItself(left: readonly SqlToken[], query: readonly SqlToken[]): boolean {
  if (left.length === 0 || !isWrapped(query)) return false;
  const [select, ...list] = unwrapped(query);
  if (!isOneOf(select, SELECT)) return false;
  const columns = columnsOf(isOneOf(list[0], OF_SELECT) ? list.slice(1) : list);
  return columns !== undefined && columns === columnsOf(left);
}

/** Whether a column is compared with its own least or largest value. */
function isExtreme(left: readonly SqlToken[], sign: string, right: readonly SqlToken[]): boolean {
  const [select, called, ...rest] = right;
  const least = sign === '>=' ? 'MIN' : sign === '<=' ? 'MAX' : undefined;
  if (!isOneOf(select, SELECT) || called?.text !== least || !isWrapped(rest)) return false;
  const columns = columnsOf(left);
  return columns !== undefined && columns === columnsOf(rest.slice(1, -1));
}

const SELECT = new Set(['SELECT']);
const OF_SELECT = new Set(['DISTINCT', 'ALL']);

/** The names of columns without those of their tables; undefined where one is an expression. */
export function columnsOf(tokens: readonly SqlToken[]): string | undefined {
  const names: string[] = [];
  for (const part of splitAt(tokens, [','])) {
    const last = part.at(-1);
    if (last === undefined || !isOneColumn(part)) return undefined;
    names.push(last.text.toUpperCase().split('.').at(-1) ?? '');
  }
  return names.join(',');
}

/** Columns that every row has, with a number above zero or a text. */
const KEYS = new Set(['ID', '_ID', 'ROWID', '_ROWID_', 'OID', 'CTID', 'PK', 'UUID', 'GUID']);

/** Of `id > 0` and `id IS NOT NULL`: what is written where a client refuses a delete without WHERE. */
function holdsForEveryKey(
  left: readonly SqlToken[],
  sign: string,
  right: readonly SqlToken[],
): boolean {
  const column = left.at(-1);
  if (column === undefined || !isOneColumn(left)) return false;
  if (!KEYS.has(column.text.toUpperCase().split('.').at(-1) ?? '')) return false;
  if (sign === 'IS') return textOf(right) === 'word:NOT word:NULL';
  const isNegative = right[0]?.kind === 'sign' && right[0].text === '-';
  const [value, ...more] = isNegative ? right.slice(1) : right;
  if (value === undefined || more.length > 0) return false;
  if (value.kind === 'text' && value.text === '') return sign === '<>' || sign === '!=';
  if (value.kind !== 'number') return false;
  const least = isNegative ? 0 : Number(value.text);
  return (sign === '>' && least === 0) || (sign === '>=' && least <= 1);
}

/** Whether they name one column: `id`, `t.id`, `"t"."id"`, but not `a + id`. */
function isOneColumn(tokens: readonly SqlToken[]): boolean {
  return tokens.every(({ kind, text }, at) => {
    if (kind !== 'word' && kind !== 'name') return false;
    const next = tokens[at + 1];
    // A dot beside a quoted name stands in a token of its own, or in that of a bare name.
    return next === undefined || text.endsWith('.') || next.text.startsWith('.');
  });
}

function compareTexts(left: readonly SqlToken[], sign: string, right: readonly SqlToken[]): Truth {
  if (left.length === 0 || right.length === 0) return undefined;
  const isSame = ['=', '==', '<=', '>=', 'LIKE', 'ILIKE', 'IS'].includes(sign);
  const isCalled = left.some(({ text }) => text === '(');
  if (textOf(left) === textOf(right)) return isCalled ? undefined : isSame;
  const [pattern] = right;
  if ((sign === 'LIKE' || sign === 'ILIKE') && right.length === 1 && pattern?.kind === 'text') {
    return /^%+$/.test(pattern.text) ? true : undefined;
  }
  if (left.length > 1 || right.length > 1) return undefined;
  return compareLiterals(left[0] as SqlToken, sign, right[0] as SqlToken);
}

function compareLiterals(left: SqlToken, sign: string, right: SqlToken): Truth {
  const isLiteral = ({ kind }: SqlToken) => kind === 'number' || kind === 'text';
  if (!isLiteral(left) || !isLiteral(right)) return undefined;
  const areNumbers = left.kind === 'number' || right.kind === 'number';
  const [a, b] = areNumbers ? [Number(left.text), Number(right.text)] : [left.text, right.text];
  switch (sign) {
    case '=':
    case '==':
    case 'IS':
      return a === b;
    case '<>':
    case '!=':
      return a !== b;
    case '<':
      return a < b;
    case '>':
      return a > b;
    case '<=':
      return a <= b;
    case '>=':
      return a >= b;
    default:
      return undefined;
  }
}

function textOf(tokens: readonly SqlToken[]): string {
  return tokens
    .map(({ kind, text }) => `${kind === 'name' ? 'word' : kind}:${text.toUpperCase()}`)
    .join(' ');
}

function unwrapped(tokens: readonly SqlToken[]): readonly SqlToken[] {
  let inner = tokens;
  for (let depth = 0; depth < MAX_DEPTH && isWrapped(inner); depth++) inner = inner.slice(1, -1);
  return inner;
}

/** Whether the first parenthesis closes at the end. */
function isWrapped(tokens: readonly SqlToken[]): boolean {
  if (tokens[0]?.text !== '(' || tokens[0].kind !== 'sign') return false;
  let depth = 0;
  for (let at = 0; at < tokens.length; at++) {
    const { kind, text } = tokens[at] as SqlToken;
    if (kind !== 'sign') continue;
    if (text === '(') depth++;
    else if (text === ')' && --depth === 0) return at === tokens.length - 1;
  }
  return false;
}

/** The parts between words at the outermost level: within no brackets and no CASE. */
export function splitAt(tokens: readonly SqlToken[], words: readonly string[]): SqlToken[][] {
  const parts: SqlToken[][] = [[]];
  let depth = 0;
  let cases = 0;
  let isRange = false;
  for (const token of tokens) {
    if (token.kind === 'sign' && token.text === '(') depth++;
    if (token.kind === 'sign' && token.text === ')') depth--;
    if (token.kind === 'word' && token.text === 'CASE') cases++;
    if (token.kind === 'word' && token.text === 'END' && cases > 0) cases--;
    const isOuter = depth === 0 && cases === 0;
    let isSplit = isOuter && token.kind !== 'text' && words.includes(token.text);
    // The AND of a BETWEEN joins no conditions.
    if (isSplit && isRange && token.text === 'AND') isSplit = isRange = false;
    if (isOuter && token.kind === 'word' && token.text === 'BETWEEN') isRange = true;
    if (isSplit) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}
