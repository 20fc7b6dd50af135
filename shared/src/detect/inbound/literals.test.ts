import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createUnitReader } from '../units.ts';
import { createLiteralFinder } from './literals.ts';

const unitsOf = createUnitReader();
const LITERALS = ['system:', 'end of', '系统:', '<|', '<|im_start|>', '\nhuman:', 'ending', '| sh'];
const WORDS = ['system:', 'end of', '系统:'];
const finder = createLiteralFinder(
  WORDS,
  LITERALS.filter((literal) => !WORDS.includes(literal)),
);
const found = (text: string) => {
  const present = finder.find(unitsOf(text), text.length);
  return LITERALS.filter((_, at) => present?.[at] === 1);
};

it('finds each literal that a text holds in whatever case, always', () => {
  const part = fc.oneof(
    fc.constantFrom(...LITERALS, 'SYSTEM:', 'sys', '<', '|', ' ', 'K', 'İ', '系', 'End oF'),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const text = parts.join('');
      const lower = text.toLowerCase();
      const holds = (literal: string) =>
        lower.includes(literal) &&
        !(literal === 'end of' && !/(?:^|[^a-z])end of/.test(lower)) &&
        !(literal === 'system:' && !/(?:^|[^a-z])system:/.test(lower));
      expect(found(text)).toEqual(expect.arrayContaining(LITERALS.filter(holds)));
    }),
  );
});

it('finds nothing in a text without them', () => {
  const others = fc.stringMatching(/^[a-df-rt-z .,;:]*$/);
  fc.assert(
    fc.property(others, (text) => {
      expect(found(text)).toEqual([]);
    }),
  );
  expect(found('<|im_star')).toEqual(['<|']);
  expect(found('system')).toEqual([]);
});

it('knows every character whose lower case is one of ASCII', () => {
  for (let code = 0x80; code < 0x110000; code += 1) {
    const character = String.fromCodePoint(code);
    if (!/[\0-\x7f]/.test(character.toLowerCase())) continue;
    expect(finder.find(unitsOf(character), character.length)).toEqual(
      new Uint8Array(LITERALS.length).fill(1),
    );
  }
});
