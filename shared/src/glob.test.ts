import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Glob } from './glob.ts';

const effort = () => ({ left: 1_000_000 });
const part = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 10 });
const text = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 12 });

it('reads stars as documented, in names and in paths', () => {
  fc.assert(
    fc.property(part, text, (pattern, found) => {
      const name = new RegExp(`^${pattern.replace(/\*+/g, '.*')}$`);
      expect(new Glob(pattern, 'name').matches(found, effort())).toBe(name.test(found));
      const path = pattern.replace(/\*+/g, (stars) => (stars.length > 1 ? '.*' : '[^/]*'));
      expect(new Glob(pattern, 'path').matches(found, effort())).toBe(
        new RegExp(`^${path}$`).test(found),
      );
    }),
    { numRuns: 2000 },
  );
});

it('knows which texts could still continue to a match', () => {
  fc.assert(
    fc.property(part, text, text, (pattern, begin, end) => {
      const glob = new Glob(pattern, 'name');
      if (end !== '' && glob.matches(begin + end, effort())) {
        expect(glob.canBegin(begin, effort())).toBe(true);
      }
    }),
    { numRuns: 2000 },
  );
  expect(new Glob('files/*', 'name').canBegin('mail/', effort())).toBe(false);
});

it('says no when its effort is used up, however it is provoked', () => {
  const glob = new Glob('**a'.repeat(16), 'path');
  const left = { left: 10_000 };
  expect(glob.matches('a'.repeat(100_000), left)).toBe(false);
  expect(left.left).toBeGreaterThan(-100);
  expect(glob.matches('a'.repeat(100), effort())).toBe(true);
});
