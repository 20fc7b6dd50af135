/**
 * Finds the members of a JSON object in its text, without parsing their values: a value that is
 * passed on must stay as written. The text was strictly parsed before, or made by JSON.stringify;
 * malformed text gives a meaningless result here, but no endless loop.
 */

/** The place of a member: its text from the key on, and its value in that. */
export interface Member {
  name: string;
  start: number;
  valueStart: number;
  end: number;
}

const STRUCTURE = /["{}[\]]/g;
const SCALAR_END = /[,}\]\s]|$/g;

/**
 * Visits the members of an object.
 *
 * @param text the object, or what is between its braces
 * @param visit returns true to end it
 */
export function visitMembers(text: string, visit: (member: Member) => boolean): void {
  let at = skipSpace(text, 0);
  if (text[at] === '{') at = skipSpace(text, at + 1);
  while (text[at] === '"') {
    const start = at;
    const keyEnd = endOfString(text, at);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, valueStart);
    const key = text.slice(start + 1, keyEnd - 1);
    const name = key.includes('\\') ? JSON.parse(text.slice(start, keyEnd)) : key;
    if (visit({ name, start, valueStart, end })) return;
    at = skipSpace(text, end);
    if (text[at] !== ',') return;
    at = skipSpace(text, at + 1);
  }
}

/** The text of a member's value; undefined where there is none. */
export function findMember(text: string, name: string): string | undefined {
  let found: string | undefined;
  visitMembers(text, (member) => {
    if (member.name === name) found = text.slice(member.valueStart, member.end);
    return found !== undefined;
  });
  return found;
}

/** An object without some of its members; the others keep their text. */
export function dropMembers(text: string, names: ReadonlySet<string>): string {
  const kept: string[] = [];
  visitMembers(text, ({ name, start, end }) => {
    if (!names.has(name)) kept.push(text.slice(start, end));
    return false;
  });
  return `{${kept.join(',')}}`;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at++;
  }
}

function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function endOfValue(text: string, from: number): number {
  if (text[from] === '"') return endOfString(text, from);
  if (text[from] !== '{' && text[from] !== '[') {
    SCALAR_END.lastIndex = from;
    return SCALAR_END.exec(text)?.index ?? text.length;
  }
  let depth = 0;
  STRUCTURE.lastIndex = from;
  for (let found = STRUCTURE.exec(text); found !== null; found = STRUCTURE.exec(text)) {
    if (found[0] === '"') STRUCTURE.lastIndex = endOfString(text, found.index);
    else if (found[0] === '{' || found[0] === '[') depth++;
    else if (--depth === 0) return found.index + 1;
  }
  return text.length;
}
