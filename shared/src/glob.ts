/** Remaining effort for one question; once used up, the answer is no. */
export interface Effort {
  left: number;
}

/** `*` in names: any characters. In paths: any but a slash; `**` is any characters there. */
export type GlobKind = 'name' | 'path';

const SLASH = 0x2f;
const IN_SEGMENT = -1;
const ANYTHING = -2;

/**
 * A pattern with stars. Time is linear in the text: all possible positions in the pattern are
 * tracked together, so nothing is tried twice, and no foreign text becomes a regular expression.
 */
export class Glob {
  readonly #tokens: readonly number[];

  constructor(pattern: string, kind: GlobKind) {
    this.#tokens = tokensOf(pattern, kind);
  }

  /** Whether the whole text matches. */
  matches(text: string, effort: Effort): boolean {
    return this.#follow(text, effort).has(this.#tokens.length);
  }

  /** Whether any text with this beginning could match. */
  canBegin(prefix: string, effort: Effort): boolean {
    return [...this.#follow(prefix, effort)].some((at) => at < this.#tokens.length);
  }

  /** The possible positions in the pattern after the text. */
  #follow(text: string, effort: Effort): Set<number> {
    let active = this.#add(new Set(), 0);
    for (let i = 0; i < text.length && active.size > 0; i++) {
      effort.left -= active.size;
      if (effort.left < 0) return new Set();
      const code = text.charCodeAt(i);
      const next = new Set<number>();
      for (const at of active) {
        const token = this.#tokens[at];
        if (token === ANYTHING || (token === IN_SEGMENT && code !== SLASH)) this.#add(next, at);
        else if (token === code) this.#add(next, at + 1);
      }
      active = next;
    }
    return active;
  }

  /** A star may also match nothing. */
  #add(places: Set<number>, from: number): Set<number> {
    for (let at = from; !places.has(at); at++) {
      places.add(at);
      if ((this.#tokens[at] ?? 0) >= 0) break;
    }
    return places;
  }
}

function tokensOf(pattern: string, kind: GlobKind): number[] {
  const tokens: number[] = [];
  for (let i = 0; i < pattern.length; i++) {
    if (pattern[i] !== '*') {
      tokens.push(pattern.charCodeAt(i));
      continue;
    }
    const start = i;
    while (pattern[i + 1] === '*') i++;
    tokens.push(kind === 'path' && i === start ? IN_SEGMENT : ANYTHING);
  }
  return tokens;
}
