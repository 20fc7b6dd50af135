/**
 * Reads a glob as gobwas/glob does. `*` and `?` stop at delimiters, `**` and classes do not. A
 * class is a range (`[a-c]`) or a list (`[abc]`, where only `\` and `]` mean something), `!` after
 * the bracket negates it. `{a,b}` may be nested and have empty branches.
 */
export type GlobNode =
  | { kind: 'text'; text: string }
  | { kind: 'one' }
  | { kind: 'star'; stops: boolean }
  | { kind: 'class'; test: (character: string) => boolean }
  | { kind: 'alternatives'; branches: GlobNode[][] };

/** Returns the pattern's sequence, undefined when it is malformed. */
export function parseGlob(pattern: string): GlobNode[] | undefined {
  const parser = new GlobParser([...pattern]);
  try {
    return parser.parse();
  } catch (error) {
    if (error instanceof GlobSyntaxError) return undefined;
    throw error;
  }
}

class GlobSyntaxError extends Error {
  override readonly name = 'GlobSyntaxError';
}

class GlobParser {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(characters: readonly string[]) {
    this.#characters = characters;
  }

  /** Open groups are kept in a list: a pattern may nest deeper than a stack. */
  parse(): GlobNode[] {
    const open: { outer: GlobNode[]; branches: GlobNode[][] }[] = [];
    let nodes: GlobNode[] = [];
    for (let character = this.#read(); character !== undefined; character = this.#read()) {
      const group = open.at(-1);
      if (character === '{') {
        const branches: GlobNode[][] = [[]];
        nodes.push({ kind: 'alternatives', branches });
        open.push({ outer: nodes, branches });
        nodes = branches[0] as GlobNode[];
      } else if (group && character === ',') {
        nodes = [];
        group.branches.push(nodes);
      } else if (group && character === '}') {
        nodes = group.outer;
        open.pop();
      } else nodes.push(this.#single(character));
    }
    if (open.length > 0) throw new GlobSyntaxError('unclosed {');
    return nodes;
  }

  #single(character: string): GlobNode {
    switch (character) {
      case '?':
        return { kind: 'one' };
      case '*': {
        const isDouble = this.#characters[this.#at] === '*';
        if (isDouble) this.#at++;
        return { kind: 'star', stops: !isDouble };
      }
      case '[':
        return this.#class();
      case '\\':
        return { kind: 'text', text: this.#must() };
      default:
        return { kind: 'text', text: character };
    }
  }

  #class(): GlobNode {
    const negated = this.#characters[this.#at] === '!';
    if (negated) this.#at++;
    const isIn = this.#characters[this.#at + 1] === '-' ? this.#range() : this.#list();
    return { kind: 'class', test: (character) => isIn(character) !== negated };
  }

  #range(): (character: string) => boolean {
    const low = codePoint(this.#must());
    this.#at++;
    const high = codePoint(this.#must());
    if (high < low || this.#must() !== ']') throw new GlobSyntaxError('not a range');
    return (character) => codePoint(character) >= low && codePoint(character) <= high;
  }

  #list(): (character: string) => boolean {
    const listed = new Set<string>();
    for (let character = this.#must(); character !== ']'; character = this.#must()) {
      listed.add(character === '\\' ? this.#must() : character);
    }
    if (listed.size === 0) throw new GlobSyntaxError('an empty class');
    return (character) => listed.has(character);
  }

  #read(): string | undefined {
    return this.#characters[this.#at++];
  }

  #must(): string {
    const character = this.#read();
    if (character === undefined) throw new GlobSyntaxError('it ends too early');
    return character;
  }
}

function codePoint(character: string): number {
  return character.codePointAt(0) as number;
}
