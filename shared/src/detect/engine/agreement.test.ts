/** The engine against JavaScript's own expressions: the same matches at the same places. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPatternSet, type PatternKind } from './pattern-set.ts';

/** One expression in both syntaxes; nothing that may match the empty text is repeated. */
interface Expression {
  ours: string;
  js: string;
  mayBeEmpty: boolean;
}

const same = (text: string): Expression => ({ ours: text, js: text, mayBeEmpty: false });
const CHARACTERS = ['a', 'b', '1', '_', ' ', '\n', 'é', 'ß', '字', '😀', '\u200b'];

const atom: fc.Arbitrary<Expression> = fc.oneof(
  fc
    .constantFrom(...CHARACTERS, '[ab1]', '[^a]', '[a-z0-9]', '[^é😀]', '\\d', '\\w', '\\D')
    .map(same),
  // JavaScript's dot leaves out four characters, its \s takes Unicode's.
  fc.constant({ ours: '.', js: '[^\\n]', mayBeEmpty: false }),
  fc.constant({ ours: '\\s', js: '[\\t-\\r ]', mayBeEmpty: false }),
);

const edge: fc.Arbitrary<Expression> = fc
  .constantFrom('\\b', '\\B', '^', '$')
  .map((text) => ({ ...same(text), mayBeEmpty: true }));

const repeated = (inner: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> =>
  fc
    .tuple(inner, fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '*?', '+?', '??', '{0,2}?'))
    .map(([{ ours, js, mayBeEmpty }, times]) => ({
      ours: mayBeEmpty ? ours : `(?:${ours})${times}`,
      js: mayBeEmpty ? js : `(?:${js})${times}`,
      mayBeEmpty: mayBeEmpty || /^(\*|\?|\{0)/.test(times),
    }));

const joined = (parts: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> =>
  fc.array(parts, { minLength: 1, maxLength: 4 }).map((all) => ({
    ours: all.map(({ ours }) => ours).join(''),
    js: all.map(({ js }) => js).join(''),
    mayBeEmpty: all.every(({ mayBeEmpty }) => mayBeEmpty),
  }));

const either = (parts: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> =>
  fc.array(parts, { minLength: 2, maxLength: 3 }).map((all) => ({
    ours: `(?:${all.map(({ ours }) => ours).join('|')})`,
    js: `(?:${all.map(({ js }) => js).join('|')})`,
    mayBeEmpty: all.some(({ mayBeEmpty }) => mayBeEmpty),
  }));

const term = fc.oneof(
  { weight: 6, arbitrary: atom },
  { weight: 1, arbitrary: edge },
  repeated(atom),
);
const phrase = joined(term);
const expression = joined(
  fc.oneof(phrase, either(phrase), repeated(either(phrase)), repeated(joined(atom))),
).map(({ ours, js, mayBeEmpty }) =>
  // An expression that matches the empty text is rejected.
  mayBeEmpty ? { ours: `a(?:${ours})`, js: `a(?:${js})` } : { ours, js },
);

/** Short, since JavaScript backtracks. */
const text = fc
  .array(fc.constantFrom(...CHARACTERS, 'Z', '\t', '\ud83d', '\ude00'), { maxLength: 16 })
  .map((units) => units.join(''));

function matchesOfJavaScript(js: string, value: string): [number, number][] {
  return [...value.matchAll(new RegExp(js, 'gu'))].map((match) => [
    match.index,
    match.index + match[0].length,
  ]);
}

it.each<PatternKind>(['builtin', 'tenant'])('a set of the kind %s', (kind) => {
  fc.assert(
    fc.property(
      fc.array(expression, { minLength: 1, maxLength: 4 }),
      fc.array(text, { minLength: 1, maxLength: 5 }),
      (expressions, texts) => {
        const set = createPatternSet(
          expressions.map(({ ours }, i) => ({ id: `${i}`, regex: ours })),
          kind,
        );
        for (const value of texts) {
          const found = set.find(value);
          const wanted = expressions.map(({ js }) => matchesOfJavaScript(js, value));
          wanted.forEach((matches, i) => {
            const ours = found.filter(({ id }) => id === `${i}`);
            expect(ours.map(({ start, end }) => [start, end])).toEqual(matches);
          });
          expect(set.hits(value).map(Number)).toEqual(
            wanted.flatMap((matches, i) => (matches.length > 0 ? [i] : [])),
          );
        }
        set.close();
      },
    ),
    { numRuns: 250 },
  );
});
