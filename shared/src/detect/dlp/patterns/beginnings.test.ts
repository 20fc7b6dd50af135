import { expect, it } from 'vitest';
import { BUILTIN_PATTERNS } from '../builtin-patterns.ts';
import { GATES } from '../decode/gates.ts';

/** A class of all letters first that is repeated: a match may begin in any word. */
const ANY_WORD = /^(?:\(\?i\))?(?:\\b|\(\?:\\b\|_\)|\(\?:)*\[[^\]]*a-z[^\]]*\](?:\{|\+|\*|\[)/;

/**
 * Each of them multiplies the states to which random text leads the engine. Write another one so
 * that it begins at what a match must have, and let its judge read what stands before.
 */
it('few expressions begin in any word', () => {
  const expressions = [
    ...BUILTIN_PATTERNS.flatMap((pattern) =>
      pattern.expressions.map((one) => (typeof one === 'string' ? one : one.expression)),
    ),
    ...GATES.flatMap((gate) => gate.expressions),
  ];
  const beginnings = expressions.filter((one) => ANY_WORD.test(one)).map((one) => one.slice(0, 18));
  expect(beginnings).toEqual([
    String.raw`\b[A-Za-z0-9]{76}A`,
    String.raw`\b[A-Za-z][A-Za-z0`,
    String.raw`\b[A-Za-z]{2}[ _-]`,
    String.raw`\b[A-Za-z]{2}[ -]?`,
    '[A-Za-z0-9_-]{20}(',
    '[A-Za-z0-9_-]{20}(',
  ]);
});
