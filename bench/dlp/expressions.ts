/** The scanner's own expressions, for the engine and for JavaScript. */
import { BUILTIN_PATTERNS } from '../../shared/src/detect/dlp/builtin-patterns.ts';
import { GATES } from '../../shared/src/detect/dlp/decode/gates.ts';
import type { PatternSource } from '../../shared/src/detect/engine/pattern-set.ts';

/** What a plain scan asks the engine, marks of disguises included. */
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

/** What JavaScript writes otherwise is the flag for any case, which it has for a whole expression only. */
export function toJavaScript(regex: string): RegExp {
  const without = regex.replace(/^\(\?i\)/, '').replaceAll('(?i:', '(?:');
  return without === regex ? new RegExp(regex) : new RegExp(without, 'i');
}
