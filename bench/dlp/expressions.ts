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

/**
 * Only the case-insensitive flag is written differently in JavaScript, which has it only for a
 * whole expression.
 */
export function toJavaScript(regex: string): RegExp {
  const without = regex.replace(/^\(\?i\)/, '').replaceAll('(?i:', '(?:');
  return without === regex ? new RegExp(regex) : new RegExp(without, 'i');
}
