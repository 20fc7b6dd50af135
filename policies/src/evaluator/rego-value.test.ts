import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { regoText } from './builtins/sprintf.ts';
import {
  compareRego,
  compareStrings,
  parseRegoValue,
  RegoNumber,
  RegoObject,
  RegoSet,
  type RegoValue,
  toInt64,
} from './rego-value.ts';

const number = fc
  .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.bigInt())
  .map((value) => new RegoNumber(String(value)));
const value = fc.letrec<{ value: RegoValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.string({ unit: 'grapheme' }),
    number,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .uniqueArray(tie('value'), { maxLength: 4, comparator: sameText })
      .map((items) => new RegoSet(items)),
    fc
      .uniqueArray(fc.tuple(tie('value'), tie('value')), {
        maxLength: 3,
        comparator: ([a], [b]) => sameText(a, b),
      })
      .map((entries) => new RegoObject(entries)),
  ),
})).value;

function sameText(a: RegoValue, b: RegoValue): boolean {
  return dump(a) === dump(b);
}

/** As OPA's `opa_value_dump` writes: JSON's strings, sets in braces. */
function dump(item: RegoValue): string {
  if (item instanceof RegoNumber) return item.text;
  if (item instanceof RegoSet) {
    return item.items.length === 0 ? 'set()' : `{${item.items.map(dump).join(', ')}}`;
  }
  if (item instanceof RegoObject) {
    return `{${item.entries.map(([key, one]) => `${dump(key)}: ${dump(one)}`).join(', ')}}`;
  }
  return Array.isArray(item) ? `[${item.map(dump).join(', ')}]` : JSON.stringify(item);
}

describe('parseRegoValue', () => {
  test('reads what OPA writes', () => {
    fc.assert(
      fc.property(value, (one) => {
        expect(dump(parseRegoValue(dump(one)))).toBe(dump(one));
      }),
    );
  });

  test('keeps what JSON loses', () => {
    const parsed = parseRegoValue('{"a": {1, 2.0}, [1]: set(), {}: 9223372036854775807}');
    expect(regoText(parsed)).toBe('{"a": {1, 2.0}, [1]: set(), {}: 9223372036854775807}');
  });

  test.each([
    '',
    ' ',
    '[1',
    '{',
    '{1: }',
    '"a',
    'nul',
    '[1,2]',
    '1 2',
    '{"a" 1}',
    '[1, ]',
    'set(',
    '"\\x"',
  ])('refuses %j', (text) => expect(() => parseRegoValue(text)).toThrow(SyntaxError));
});

describe('order', () => {
  test('is total', () => {
    fc.assert(
      fc.property(value, value, value, (a, b, c) => {
        expect(Math.sign(compareRego(a, b))).toBe(-Math.sign(compareRego(b, a)) + 0);
        expect(compareRego(a, a)).toBe(0);
        if (compareRego(a, b) <= 0 && compareRego(b, c) <= 0) {
          expect(compareRego(a, c)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });

  test('of strings is that of their bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(Math.sign(compareStrings(a, b))).toBe(bytes);
      }),
    );
    expect(compareStrings('\uffee', '\u{10000}')).toBeLessThan(0);
  });

  test('of types is null, booleans, numbers, strings, arrays, objects, sets', () => {
    const types = [
      'null',
      'false',
      'true',
      '-1',
      '2',
      '10',
      '"a"',
      '"b"',
      '[]',
      '[1]',
      '{}',
      '{"a": 1}',
      'set()',
    ];
    const parsed = types.map(parseRegoValue);
    expect([...parsed].reverse().sort(compareRego).map(regoText)).toEqual(types);
  });
});

test('toInt64 takes integers of 64 bits, also with zeros after the point', () => {
  const read = (text: string) => toInt64(new RegoNumber(text));
  expect(read('9223372036854775807')).toBe(2n ** 63n - 1n);
  expect(read('-9223372036854775808')).toBe(-(2n ** 63n));
  expect(read('10.00')).toBe(10n);
  for (const text of ['9223372036854775808', '1.5', '1e3', '0.1']) expect(read(text)).toBeNull();
});
