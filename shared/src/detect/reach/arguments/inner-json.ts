/** Texts in arguments that are JSON themselves. */
import { parseStrictJson, StrictJsonError } from '../../../json/strict-json.ts';

const INNER_LIMITS = { maxDepth: 64, maxNodes: 20_000, numbers: 'any' } as const;

/** What servers interpret differently (a duplicate key, for instance) is not read at all. */
export function parseInner(text: string): object | 'no JSON' | 'too much' {
  try {
    return parseStrictJson(text, INNER_LIMITS) as object;
  } catch (error) {
    const isJson = error instanceof StrictJsonError && error.reason !== 'syntax';
    return isJson ? 'too much' : 'no JSON';
  }
}

/** Characters of a call that are parsed. */
const MAX_LENGTH = 256 * 1024;

/** The texts of one call. */
export class InnerTexts {
  #left = MAX_LENGTH;

  /** @returns undefined where a text does not begin as JSON does */
  parse(text: string): ReturnType<typeof parseInner> | undefined {
    if (!/^\s*[[{]/.test(text)) return undefined;
    this.#left -= text.length;
    return this.#left < 0 ? 'too much' : parseInner(text);
  }
}
