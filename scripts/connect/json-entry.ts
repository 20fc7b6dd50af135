/**
 * Sets and removes one entry of a JSON configuration: `<section>.<name>`. The rest of the text
 * stays as it is, byte for byte. Proven by json-entry.test.ts.
 */
import type { ClientEntry } from '@governance/shared/mcp/mcp-clients';
import { applyEdits, ConfigTextError, type Edit, lineEndOf } from './config-text-error.ts';
import {
  type JsonDialect,
  type JsonMember,
  type JsonObject,
  readJson,
  skipSpace,
} from './json-tree.ts';

interface Style {
  lineEnd: string;
  /** One level of indentation; null if all is on one line. */
  unit: string | null;
}

/** @throws ConfigTextError if the text is malformed or has a key of the path twice */
export function hasJsonEntry(
  text: string,
  section: string,
  name: string,
  dialect: JsonDialect,
): boolean {
  if (isBlank(text)) return false;
  const servers = findSection(text, readRoot(text, dialect), section);
  return servers !== undefined && findMember(text, servers, name) !== undefined;
}

/** @throws ConfigTextError as above */
export function setJsonEntry(
  text: string,
  section: string,
  name: string,
  entry: ClientEntry,
  dialect: JsonDialect,
): string {
  if (isBlank(text)) return `${JSON.stringify({ [section]: { [name]: entry } }, null, 2)}\n`;
  const root = readRoot(text, dialect);
  const style = styleOf(text, root);
  const servers = findSection(text, root, section);
  if (!servers) {
    return applyEdits(text, insertion(text, root, section, { [name]: entry }, style, dialect));
  }
  const known = findMember(text, servers, name);
  if (!known) return applyEdits(text, insertion(text, servers, name, entry, style, dialect));
  const { start, end } = known.value;
  const value = render(entry, style, indentAt(text, known.keyStart));
  return applyEdits(text, [{ start, end, text: value }]);
}

/** The text without the entry; unchanged if there is none. Comments beside it stay. */
export function removeJsonEntry(
  text: string,
  section: string,
  name: string,
  dialect: JsonDialect,
): string {
  if (isBlank(text)) return text;
  const servers = findSection(text, readRoot(text, dialect), section);
  const known = servers && findMember(text, servers, name);
  if (!servers || !known) return text;
  const index = servers.members.indexOf(known);
  const next = skipSpace(text, known.value.end, dialect);
  const before = servers.members[index - 1];
  const commaBefore = before && skipSpace(text, before.value.end, dialect);
  const comma = text[next] === ',' ? next : commaBefore;
  const whole = wholeLines(text, known.keyStart, comma === next ? next + 1 : known.value.end);
  const edits: Edit[] = [{ ...whole, text: '' }];
  if (comma !== undefined && comma !== next) edits.push({ start: comma, end: comma + 1, text: '' });
  return applyEdits(text, edits);
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function readRoot(text: string, dialect: JsonDialect): JsonObject {
  const root = readJson(text, dialect);
  if (root.type !== 'object') throw new ConfigTextError('this is not an object', text, root.start);
  return root;
}

function findSection(text: string, root: JsonObject, section: string): JsonObject | undefined {
  const value = findMember(text, root, section)?.value;
  if (value?.type === 'other') {
    throw new ConfigTextError(`"${section}" is not an object`, text, value.start);
  }
  return value;
}

/**
 * Which of two members with the same key a client reads is not defined, so a duplicate is refused.
 */
function findMember(text: string, { members }: JsonObject, key: string): JsonMember | undefined {
  const [first, second] = members.filter((member) => member.key === key);
  if (second) throw new ConfigTextError(`"${key}" appears twice`, text, second.keyStart);
  return first;
}

function styleOf(text: string, root: JsonObject): Style {
  const lineEnd = lineEndOf(text);
  const [first] = root.members;
  if (!first) return { lineEnd, unit: '  ' };
  const isOneLine = !text.slice(root.start, root.end).includes('\n');
  if (isOneLine) return { lineEnd, unit: null };
  const own = indentAt(text, root.start);
  const indent = startsItsLine(text, first.keyStart) ? indentAt(text, first.keyStart) : '';
  const unit = indent.startsWith(own) ? indent.slice(own.length) : indent;
  return { lineEnd, unit: unit === '' ? '  ' : unit };
}

/** Inserts a member after the last one of an object. */
function insertion(
  text: string,
  object: JsonObject,
  key: string,
  value: object,
  style: Style,
  dialect: JsonDialect,
): Edit[] {
  const { lineEnd, unit } = style;
  const last = object.members.at(-1);
  const own = indentAt(text, object.start);
  const isBelow = last !== undefined && startsItsLine(text, last.keyStart);
  const indent = isBelow ? indentAt(text, last.keyStart) : own + (unit ?? '');
  const member = `${JSON.stringify(key)}:${unit === null ? '' : ' '}${render(value, style, indent)}`;
  const at = object.end - 1;
  if (!last) {
    if (unit === null) return [{ start: at, end: at, text: member }];
    const lineStart = lineStartOf(text, at);
    return startsItsLine(text, at) && lineStart > object.start
      ? [{ start: lineStart, end: lineStart, text: `${indent}${member}${lineEnd}` }]
      : [{ start: at, end: at, text: `${lineEnd}${indent}${member}${lineEnd}${own}` }];
  }
  const end = last.value.end;
  if (unit === null) return [{ start: end, end, text: `,${member}` }];
  const after = skipSpace(text, end, dialect);
  const hasComma = text[after] === ',';
  const place = endOfLine(text, hasComma ? after + 1 : end, at);
  return [
    ...(hasComma ? [] : [{ start: end, end, text: ',' }]),
    { start: place, end: place, text: `${lineEnd}${indent}${member}${hasComma ? ',' : ''}` },
  ];
}

/** The position after comments on the same line, since they belong to what precedes them. */
function endOfLine(text: string, from: number, limit: number): number {
  let end = from;
  let at = from;
  while (at < limit) {
    const char = text[at];
    if (char === '\n' || char === '\r') return end;
    if (char === ' ' || char === '\t') {
      at += 1;
      continue;
    }
    const close = text[at + 1] === '*' ? text.indexOf('*/', at) + 2 : text.indexOf('\n', at);
    const isComment = char === '/' && close > at && close <= limit;
    // Anything else, or a comment that continues on the next line, is not split.
    if (!isComment || text.slice(at, close).includes('\n')) return from;
    end = text[close - 1] === '\r' ? close - 1 : close;
    at = end;
  }
  return from;
}

function render(value: object, { unit, lineEnd }: Style, indent: string): string {
  if (unit === null) return JSON.stringify(value);
  return JSON.stringify(value, null, unit).replaceAll('\n', `${lineEnd}${indent}`);
}

function lineStartOf(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

function indentAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(lineStartOf(text, at), at))?.[0] ?? '';
}

function startsItsLine(text: string, at: number): boolean {
  const start = lineStartOf(text, at);
  return start > 0 && indentAt(text, at).length === at - start;
}

/** A range, widened to whole lines if nothing else is on them. */
function wholeLines(text: string, start: number, end: number): { start: number; end: number } {
  const next = text.indexOf('\n', end);
  const isAlone = startsItsLine(text, start) && next >= 0 && text.slice(end, next).trim() === '';
  return isAlone ? { start: lineStartOf(text, start), end: next + 1 } : { start, end };
}
