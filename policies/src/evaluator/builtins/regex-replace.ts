/**
 * OPA's regex.replace on a linear-time engine with Go's syntax. "Linear" alone is not a bound: a
 * pattern can compile to a hundred thousand instructions, and finding all matches of some patterns
 * reads the rest of the text for each. So the size of a pattern is estimated before it is compiled,
 * and every search is charged at its worst case.
 */
import { RE2JS, RE2JSException } from 're2js';
import { type Builtin, type BuiltinCall, BuiltinLimitError } from './builtin.ts';

const MAX_PATTERN = 1_000;
const MAX_INSTRUCTIONS = 4_000;
const MAX_OUTPUT = 64 * 1024;
const CACHED_PATTERNS = 64;
const DUPLICATE_NAME = 'duplicate capture group name';
/** The cost of parsing and compiling, once per decision and pattern, for each instruction. */
const FUEL_PER_INSTRUCTION = 3_000;
/** The cost of one search, for each instruction and each remaining character of the text. */
const FUEL_PER_STEP = 3;
const FUEL_PER_SEARCH = 2_000;

/** Compiled patterns, least recently used first; undefined for invalid ones. */
const compiled = new Map<string, RE2JS | undefined>();

export const regexReplace: Builtin = ([text, pattern, replacement], call) => {
  if (typeof text !== 'string' || typeof pattern !== 'string') return undefined;
  if (typeof replacement !== 'string') return undefined;
  const regex = compile(pattern, call);
  return regex === undefined ? undefined : replaceAll(regex, text, replacement, call);
};

function compile(pattern: string, call: BuiltinCall): RE2JS | undefined {
  if (pattern.length > MAX_PATTERN) {
    throw new BuiltinLimitError(`a pattern of over ${MAX_PATTERN} characters`);
  }
  const estimate = estimateInstructions(pattern);
  if (estimate > MAX_INSTRUCTIONS) throw new BuiltinLimitError('a pattern that repeats too much');
  if (call.firstUse(pattern)) call.charge(estimate * FUEL_PER_INSTRUCTION);
  const known = compiled.has(pattern);
  const regex = known ? compiled.get(pattern) : tryCompile(pattern);
  compiled.delete(pattern);
  compiled.set(pattern, regex);
  if (compiled.size > CACHED_PATTERNS) compiled.delete(compiled.keys().next().value as string);
  return regex;
}

function tryCompile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    // Go allows two groups of one name, this engine does not.
    const isLimit = error instanceof RE2JSException && error.message.includes(DUPLICATE_NAME);
    if (isLimit) throw new BuiltinLimitError('two groups of one name');
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}

/**
 * An upper bound of the instructions that a pattern compiles to: its characters, multiplied under
 * counted repetitions. An invalid pattern gets some number too.
 */
export function estimateInstructions(pattern: string): number {
  /** The instructions of each open group, the innermost last, and of the last item in each. */
  const groups: { total: number; last: number }[] = [{ total: 4, last: 0 }];
  const add = (size: number) => {
    const group = groups.at(-1) as { total: number; last: number };
    group.total += size;
    group.last = size;
  };
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    if (character === '\\') {
      i++;
      add(2);
    } else if (character === '[') {
      const end = classEnd(pattern, i);
      add(1 + Math.ceil((end - i) / 8));
      i = end;
    } else if (character === '(') {
      groups.push({ total: 4, last: 0 });
    } else if (character === ')' && groups.length > 1) {
      add((groups.pop() as { total: number }).total);
    } else if (character === '{') {
      const match = /^\{(\d+)(?:,(\d*))?\}/.exec(pattern.slice(i, i + 12));
      const group = groups.at(-1) as { total: number; last: number };
      const times = match ? Math.max(Number(match[1]), Number(match[2] ?? 0), 1) : 1;
      const size = (group.last + 2) * times;
      group.total += size;
      group.last += size;
      if (match) i += match[0].length - 1;
    } else {
      add(2);
    }
  }
  return groups.reduce((sum, group) => sum + group.total, 0);
}

/** Where a class like `[^]a[:alpha:]]` ends. */
function classEnd(pattern: string, start: number): number {
  let i = start + 1;
  if (pattern[i] === '^') i++;
  if (pattern[i] === ']') i++;
  for (; i < pattern.length && pattern[i] !== ']'; i++) {
    if (pattern[i] === '\\') i++;
    else if (pattern.startsWith('[:', i)) {
      const close = pattern.indexOf(':]', i + 2);
      if (close > 0) i = close + 1;
    }
  }
  return i;
}

/** Go's Regexp.ReplaceAllString. */
function replaceAll(regex: RE2JS, text: string, template: string, call: BuiltinCall): string {
  const parts = parseTemplate(template);
  const matcher = regex.matcher(text);
  const perCharacter = matcher.programSize() * FUEL_PER_STEP;
  let out = '';
  let copied = 0;
  let previousEnd = -1;
  for (;;) {
    const from = Math.max(previousEnd, 0);
    call.charge(FUEL_PER_SEARCH + perCharacter * (text.length - from + 1));
    if (!matcher.find()) break;
    const start = matcher.start();
    const end = matcher.end();
    // An empty match right after a match is none.
    const counts = !(start === end && start === previousEnd);
    previousEnd = end;
    if (!counts) continue;
    out += text.slice(copied, start) + expand(parts, matcher);
    copied = end;
    if (out.length > MAX_OUTPUT) throw new BuiltinLimitError('the text becomes too long');
  }
  return out + text.slice(copied);
}

type TemplatePart = { text: string } | { group: number } | { name: string };
type Groups = Pick<ReturnType<RE2JS['matcher']>, 'group' | 'groupCount' | 'namedGroups'>;

/** Go's templates: $1, $name, ${name}, $$; anything else stays unchanged. */
function parseTemplate(template: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let at = 0;
  while (at < template.length) {
    const dollar = template.indexOf('$', at);
    if (dollar < 0) {
      parts.push({ text: template.slice(at) });
      break;
    }
    parts.push({ text: template.slice(at, dollar) });
    REFERENCE.lastIndex = dollar;
    const match = REFERENCE.exec(template);
    at = dollar + (match ? match[0].length : 1);
    const name = match?.[1] ?? match?.[2];
    if (name === undefined) parts.push({ text: '$' });
    else if (/^(0|[1-9]\d{0,8})$/.test(name)) parts.push({ group: Number(name) });
    else parts.push({ name });
  }
  return parts;
}

const REFERENCE = /\$(?:([\p{L}\p{Nd}_]+)|\{([\p{L}\p{Nd}_]+)\}|\$)/uy;

function expand(parts: readonly TemplatePart[], matcher: Groups): string {
  let out = '';
  for (const part of parts) {
    if ('text' in part) out += part.text;
    else if ('group' in part) {
      out += part.group <= matcher.groupCount() ? (matcher.group(part.group) ?? '') : '';
    } else if (Object.hasOwn(matcher.namedGroups, part.name)) {
      out += matcher.group(part.name) ?? '';
    }
    if (out.length > MAX_OUTPUT) throw new BuiltinLimitError('the text becomes too long');
  }
  return out;
}
