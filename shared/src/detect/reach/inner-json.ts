/** Texts in arguments that are JSON themselves. */
import { parseStrictJson, StrictJsonError } from '../../strict-json.ts';

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
