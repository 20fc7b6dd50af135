/**
 * The form in which OPA hashes `data.json` and `.manifest` (v1/bundle/hash.go): keys sorted by
 * their UTF-8 bytes, no white space, strings as Go's encoder writes them, and numbers exactly as
 * they stand in the file, which is why JSON.parse cannot be used. Proven by opa-json.test.ts on
 * hashes that OPA made.
 */

/** Deeper documents are refused: nothing the product writes comes near. */
const MAX_DEPTH = 256;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// Where a string ends; what is allowed within is left to JSON.parse.
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/sy;
const SPACE = /[ \t\n\r]*/y;

/**
 * Writes a JSON document in the form that OPA hashes.
 *
 * @param text one JSON value; white space around it is allowed
 * @throws SyntaxError when it is no JSON, is nested too deeply, names a key of an object twice, or
 *   holds a lone surrogate: OPA would read those in some way that another reader might not
 */
export function opaHashForm(text: string): string {
  const reader = new Reader(text);
  const form = reader.value(0);
  reader.end();
  return form;
}

class Reader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  value(depth: number): string {
    if (depth > MAX_DEPTH) throw this.error('nested too deeply');
    this.space();
    const char = this.text[this.at];
    if (char === '{') return this.object(depth);
    if (char === '[') return this.array(depth);
    if (char === '"') return encode(this.string());
    for (const literal of ['true', 'false', 'null']) {
      if (this.text.startsWith(literal, this.at)) {
        this.at += literal.length;
        return literal;
      }
    }
    return this.match(NUMBER, 'a value');
  }

  end(): void {
    this.space();
    if (this.at < this.text.length) throw this.error('more than one value');
  }

  private object(depth: number): string {
    const members = new Map<string, string>();
    this.at++;
    if (!this.taken('}')) {
      do {
        this.space();
        const key = this.string();
        if (members.has(key)) throw this.error('a key is there twice');
        this.need(':');
        members.set(key, this.value(depth + 1));
      } while (this.taken(','));
      this.need('}');
    }
    const sorted = [...members].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return `{${sorted.map(([key, form]) => `${encode(key)}:${form}`).join(',')}}`;
  }

  private array(depth: number): string {
    const items: string[] = [];
    this.at++;
    if (!this.taken(']')) {
      do {
        items.push(this.value(depth + 1));
      } while (this.taken(','));
      this.need(']');
    }
    return `[${items.join(',')}]`;
  }

  private string(): string {
    const value = JSON.parse(this.match(STRING, 'a string')) as string;
    if (!value.isWellFormed()) throw this.error('a lone surrogate');
    return value;
  }

  private match(pattern: RegExp, what: string): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined) throw this.error(`expected ${what}`);
    this.at += found.length;
    return found;
  }

  private taken(char: string): boolean {
    this.space();
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  private need(char: string): void {
    if (!this.taken(char)) throw this.error(`expected ${char}`);
  }

  private space(): void {
    SPACE.lastIndex = this.at;
    this.at += SPACE.exec(this.text)?.[0].length ?? 0;
  }

  private error(what: string): SyntaxError {
    return new SyntaxError(`${what} at offset ${this.at}`);
  }
}

/** A string as Go's encoding/json writes it without HTML escapes. */
function encode(value: string): string {
  return JSON.stringify(value).replace(/[\u2028\u2029]/g, (c) =>
    c === '\u2028' ? '\\u2028' : '\\u2029',
  );
}
