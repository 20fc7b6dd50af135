/**
 * Sets and removes one table of a TOML configuration: `[<section>.<name>]`, with the tables below
 * it. The rest of the text stays as it is, byte for byte. Only tables, keys and the ends of values
 * are parsed; the client judges the values themselves. Linear. Proven by toml-entry.test.ts.
 */
import type { ClientEntry } from '@governance/shared/mcp/mcp-clients';
import { applyEdits, ConfigTextError, lineEndOf } from './config-text-error.ts';

interface Statement {
  kind: 'table' | 'array' | 'key';
  /** For a table its full name; for a key its name within the table. */
  path: string[];
  start: number;
  /** Behind its line. */
  end: number;
}

/** @throws ConfigTextError if the text is malformed, or the entry is there in another form */
export function hasTomlEntry(text: string, section: string, name: string): boolean {
  return findBlocks(text, section, name).length > 0;
}

/** @throws ConfigTextError as above */
export function setTomlEntry(
  text: string,
  section: string,
  name: string,
  entry: ClientEntry,
): string {
  const lineEnd = lineEndOf(text);
  const table = [`[${section}.${name}]`, ...Object.entries(entry).map(toLine), ''].join(lineEnd);
  const [first, ...others] = findBlocks(text, section, name);
  if (first) {
    const edits = others.map((block) => ({ ...block, text: '' }));
    return applyEdits(text, [{ ...first, text: table }, ...edits]);
  }
  if (text.trim() === '') return `${text}${table}`;
  return `${text}${text.endsWith('\n') ? '' : lineEnd}${lineEnd}${table}`;
}

/** The text without the entry; unchanged if there is none. */
export function removeTomlEntry(text: string, section: string, name: string): string {
  const edits = findBlocks(text, section, name).map((block) => ({ ...block, text: '' }));
  return applyEdits(text, edits);
}

function toLine([key, value]: [string, ClientEntry[string]]): string {
  return `${key} = ${toValue(value)}`;
}

/** JSON strings are TOML basic strings as long as they are ASCII without control characters. */
function toValue(value: ClientEntry[string]): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
  const members = Object.entries(value).map(([key, text]) => `${key} = ${JSON.stringify(text)}`);
  return `{ ${members.join(', ')} }`;
}

/** The lines of the entry's tables, each from its header to its last key. */
function findBlocks(text: string, section: string, name: string) {
  const wanted = [section, name];
  const blocks: { start: number; end: number }[] = [];
  let table: string[] = [];
  let open: { start: number; end: number } | undefined;
  for (const statement of readToml(text)) {
    const { kind, start, end } = statement;
    if (kind === 'key') {
      const path = [...table, ...statement.path];
      if (open) open.end = end;
      else if (startsWith(path, wanted) || startsWith([section], path)) {
        throw new ConfigTextError(`write ${wanted.join('.')} as a table of its own`, text, start);
      }
      continue;
    }
    table = statement.path;
    open = startsWith(table, wanted) ? { start, end } : undefined;
    if (open) blocks.push(open);
    const isArray = kind === 'array' && (open || startsWith(wanted, table));
    if (isArray) throw new ConfigTextError(`${table.join('.')} is an array`, text, start);
  }
  return blocks;
}

const startsWith = (path: readonly string[], beginning: readonly string[]) =>
  beginning.every((part, index) => path[index] === part);

/** @throws ConfigTextError */
function readToml(text: string): Statement[] {
  const reader = new TomlReader(text);
  const statements: Statement[] = [];
  for (;;) {
    const statement = reader.next();
    if (!statement) return statements;
    statements.push(statement);
  }
}

const BARE = /[A-Za-z0-9_-]+/y;

class TomlReader {
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  }

  next(): Statement | undefined {
    this.#skip(true);
    const start = this.#at;
    const char = this.#text[start];
    if (char === undefined) return undefined;
    const kind = char !== '[' ? 'key' : this.#text[start + 1] === '[' ? 'array' : 'table';
    const brackets = { key: 0, table: 1, array: 2 }[kind];
    this.#at += brackets;
    const path = this.#readPath();
    if (kind === 'key') {
      this.#expect('=');
      this.#readValue();
    } else {
      for (let i = 0; i < brackets; i++) this.#expect(']');
    }
    this.#skip(false);
    const end = this.#text[this.#at];
    if (end !== undefined && end !== '\n') this.#fail('a new line is missing');
    this.#at += end === undefined ? 0 : 1;
    return { kind, path, start, end: this.#at };
  }

  #readPath(): string[] {
    const path: string[] = [];
    for (;;) {
      this.#skipBlanks();
      path.push(this.#readKey());
      this.#skipBlanks();
      if (this.#text[this.#at] !== '.') return path;
      this.#at += 1;
    }
  }

  #readKey(): string {
    const start = this.#at;
    const quote = this.#text[start];
    if (quote === '"' || quote === "'") {
      this.#readText(quote, false);
      const inner = this.#text.slice(start + 1, this.#at - 1);
      return quote === "'" ? inner : this.#unescape(inner, start);
    }
    BARE.lastIndex = start;
    const found = BARE.exec(this.#text)?.[0];
    if (found === undefined) this.#fail('a key is missing');
    this.#at += found.length;
    return found;
  }

  #unescape(inner: string, start: number): string {
    try {
      return JSON.parse(`"${inner}"`) as string;
    } catch {
      return this.#fail('this key has an escape that is not read here', start);
    }
  }

  /** To the end of the value; strings, arrays and inline tables are followed to theirs. */
  #readValue(): void {
    const open: string[] = [];
    const start = this.#at;
    let isEmpty = true;
    for (;;) {
      if (open.length > 0) this.#skip(true);
      else this.#skipBlanks();
      const char = this.#text[this.#at];
      if (char === undefined || char === '\n' || char === '\r' || char === '#') break;
      isEmpty = false;
      if (char === '"' || char === "'") {
        const isLong = this.#text.startsWith(char.repeat(3), this.#at);
        this.#readText(char, isLong);
        continue;
      }
      if (char === '[') open.push(']');
      else if (char === '{') open.push('}');
      else if ((char === ']' || char === '}') && open.pop() !== char) {
        this.#fail(`${char} closes nothing`);
      }
      this.#at += 1;
    }
    if (open.length > 0) this.#fail('the value does not end', start);
    if (isEmpty) this.#fail('a value is missing', start);
  }

  #readText(quote: '"' | "'", isLong: boolean): void {
    const start = this.#at;
    const close = quote.repeat(isLong ? 3 : 1);
    this.#at += close.length;
    while (!this.#text.startsWith(close, this.#at)) {
      const char = this.#text[this.#at];
      if (char === undefined || (char === '\n' && !isLong)) {
        this.#fail('the text does not end', start);
      }
      this.#at += char === '\\' && quote === '"' ? 2 : 1;
    }
    this.#at += close.length;
    // One or two quotes may precede the three that close.
    while (isLong && this.#text[this.#at] === quote) this.#at += 1;
  }

  /** Whitespace and a comment; with `lines` also lines that contain nothing else. */
  #skip(lines: boolean): void {
    for (;;) {
      const char = this.#text[this.#at];
      if (char === ' ' || char === '\t') this.#at += 1;
      else if (char === '\r' && this.#text[this.#at + 1] === '\n') this.#at += 1;
      else if (char === '\n' && lines) this.#at += 1;
      else if (char === '#') {
        const end = this.#text.indexOf('\n', this.#at);
        this.#at = end < 0 ? this.#text.length : end;
      } else return;
    }
  }

  #skipBlanks(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') this.#at += 1;
  }

  #expect(char: string): void {
    this.#skipBlanks();
    if (this.#text[this.#at] !== char) this.#fail(`${char} is missing`);
    this.#at += 1;
  }

  #fail(message: string, at = this.#at): never {
    throw new ConfigTextError(message, this.#text, at);
  }
}
