/** The scanner's own expressions, for the engine and for JavaScript. */
import { BUILTIN_PATTERNS } from '../../shared/src/detect/dlp/builtin-patterns.ts';
import { GATES } from '../../shared/src/detect/dlp/decode/gates.ts';
import type { PatternSource } from '../../shared/src/detect/engine/pattern-set.ts';

/** What a plain scan searches for with the engine, including the marks of disguises. */
export function builtinExpressions(): PatternSource[] {
  const patterns = BUILTIN_PATTERNS.flatMap(({ name, expressions }) =>
    expressions.map((one, i) => ({
      id: `${name}/${i}`,
      regex: typeof one === 'string' ? one : one.expression,
    })),
  );
  const marks = GATES.flatMap(({ gate, expressions }) =>
    expressions.map((regex, i) => ({ id: `${gate}/${i}`, regex })),
  );
  return [...patterns, ...marks];
}

/** A character by its number, of at most four digits here. */
const NUMBERED = /\\x\{([0-9a-f]{1,4})\}/gi;

/**
 * Only two things are written differently in JavaScript: characters by their number, and the
 * case-insensitive flag, which it has only for a whole expression.
 */
export function toJavaScript(source: string): RegExp {
  const regex = source.replace(NUMBERED, (_, digits: string) => `\\u${digits.padStart(4, '0')}`);
  const without = regex.replace(/^\(\?i\)/, '').replaceAll('(?i:', '(?:');
  return without === regex ? new RegExp(regex) : new RegExp(without, 'i');
}
