/**
 * Parses JSON (RFC 8259) into the positions of its members, so that one can be changed while every
 * other character stays. Accepts comments and trailing commas where the client does. Linear.
 */
import { ConfigTextError } from './config-text-error.ts';

export interface JsonDialect {
  /** Line and block comments. */
  comments: boolean;
  /** A comma after the last member. */
  trailingCommas: boolean;
}

export interface JsonMember {
  key: string;
  keyStart: number;
  value: JsonNode;
}

export interface JsonObject {
  type: 'object';
  start: number;
  /** The position after the closing brace. */
  end: number;
  members: JsonMember[];
}

export type JsonNode = JsonObject | { type: 'other'; start: number; end: number };

const MAX_DEPTH = 500;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;

/** @throws ConfigTextError */
export function readJson(text: string, dialect: JsonDialect): JsonNode {
  return new JsonReader(text, dialect).read();
}

/** Skips whitespace and comments. @throws ConfigTextError for a comment that is not allowed */
export function skipSpace(text: string, from: number, { comments }: JsonDialect): number {
  let at = from;
  for (;;) {
    const char = text[at];
    if (char === ' ' || char === '\t' || char === '\n' || char === '\r') at += 1;
    else if (char === '/' && (text[at + 1] === '/' || text[at + 1] === '*')) {
      if (!comments) throw new ConfigTextError('this client reads no comments', text, at);
      at = skipComment(text, at);
    } else return at;
  }
}

function skipComment(text: string, from: number): number {
  if (text[from + 1] === '/') {
    const end = text.indexOf('\n', from);
    return end < 0 ? text.length : end;
  }
  const end = text.indexOf('*/', from + 2);
  if (end < 0) throw new ConfigTextError('the comment does not end', text, from);
  return end + 2;
}

class JsonReader {
  readonly #text: string;
  readonly #dialect: JsonDialect;
  #at = 0;

  constructor(text: string, dialect: JsonDialect) {
    this.#text = text;
    this.#dialect = dialect;
  }

  read(): JsonNode {
    if (this.#text.charCodeAt(0) === 0xfeff) this.#at = 1;
    const node = this.#readValue(0);
    this.#skip();
    if (this.#at < this.#text.length) this.#fail('nothing may follow the value');
    return node;
  }

  #readValue(depth: number): JsonNode {
    if (depth > MAX_DEPTH) this.#fail('it is nested too deeply');
    this.#skip();
    const start = this.#at;
    switch (this.#text[start]) {
      case '{':
        return this.#readObject(depth);
      case '[':
        this.#readItems(']', () => void this.#readValue(depth + 1));
        break;
      case '"':
        this.#readString();
        break;
      default:
        if (!this.#match(NUMBER) && !this.#match(WORD)) this.#fail('a value is missing');
    }
    return { type: 'other', start, end: this.#at };
  }

  #readObject(depth: number): JsonObject {
    const start = this.#at;
    const members: JsonMember[] = [];
    this.#readItems('}', () => {
      const keyStart = this.#at;
      if (this.#text[keyStart] !== '"') this.#fail('a key in double quotes is missing');
      const key = this.#readString();
      this.#skip();
      if (this.#text[this.#at] !== ':') this.#fail('a colon is missing');
      this.#at += 1;
      members.push({ key, keyStart, value: this.#readValue(depth + 1) });
    });
    return { type: 'object', start, end: this.#at, members };
  }

  #readItems(close: '}' | ']', readItem: () => void): void {
    this.#at += 1;
    this.#skip();
    if (this.#text[this.#at] === close) {
      this.#at += 1;
      return;
    }
    for (;;) {
      this.#skip();
      readItem();
      this.#skip();
      const char = this.#text[this.#at];
      if (char !== ',' && char !== close) this.#fail(`a comma or ${close} is missing`);
      this.#at += 1;
      if (char === close) return;
      this.#skip();
      if (this.#text[this.#at] === close && this.#dialect.trailingCommas) {
        this.#at += 1;
        return;
      }
    }
  }

  #readString(): string {
    const start = this.#at;
    this.#at += 1;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined || char === '\n') this.#fail('the text does not end', start);
      this.#at += char === '\\' ? 2 : 1;
      if (char === '"') break;
    }
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as string;
    } catch {
      return this.#fail('this is no JSON text', start);
    }
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found) this.#at += found[0].length;
    return found !== null;
  }

  #skip(): void {
    this.#at = skipSpace(this.#text, this.#at, this.#dialect);
  }

  #fail(message: string, at = this.#at): never {
    throw new ConfigTextError(message, this.#text, at);
  }
}
