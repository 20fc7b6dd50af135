import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { canonicalize, isCanonicalText } from './canonical-json.ts';
import { parseStrictJson } from './strict-json.ts';

/** RFC 8785, appendix B: doubles by their bits, and how they are written. */
const RFC_8785_NUMBERS = z
  .array(z.tuple([z.string(), z.string()]))
  .length(24)
  .parse(JSON.parse(readFileSync(new URL('./rfc-8785-numbers.json', import.meta.url), 'utf8')));

const json = fc.jsonValue({ stringUnit: 'grapheme' });

/** The same value with every object's keys in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, item]) => [key, shuffled(item)]));
}

describe('canonicalize', () => {
  it('is stable under key order and a round trip, for any value', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalize(value);
        expect(canonicalize(shuffled(value))).toBe(text);
        expect(canonicalize(JSON.parse(text))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 500 },
    );
  });

  // RFC 8785 section 3.2.3 and appendix B.
  it('writes what the RFC shows', () => {
    const value = {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001, -0],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalize(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    const keys = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, ö: 7 };
    expect(Object.values(JSON.parse(canonicalize(keys)))).toHaveLength(7);
    expect(canonicalize(keys)).toBe(
      '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"\u{1f600}":5,"\ufb33":3}',
    );
  });

  it.each(
    RFC_8785_NUMBERS,
  )('writes the double %s as appendix B of the RFC has it: %s', (bits, text) => {
    const value = Buffer.from(bits, 'hex').readDoubleBE();
    expect(canonicalize(value)).toBe(text);
  });

  it.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])('refuses %s', (bits) => {
    expect(() => canonicalize(Buffer.from(bits, 'hex').readDoubleBE())).toThrow(TypeError);
  });

  // The files of the RFC's author (cyberphone/json-canonicalization, testdata).
  it.each([
    ['arrays', '[56,{"d":true,"10":null,"1":[ ]}]', '[56,{"1":[],"10":null,"d":true}]'],
    [
      'structures',
      '{"1":{"f":{"f":"hi","F":5},"\\n":56.0},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}',
      '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}',
    ],
    ['unicode', '{"Unnormalized Unicode":"A\\u030a"}', '{"Unnormalized Unicode":"A\u030a"}'],
    [
      'weird',
      '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\u000a":"Newline","1":"One","\\u0080":"Control\\u007f","\\ud83d\\ude02":"Smiley","\\u00f6":"Latin Small Letter O With Diaeresis","\\ufb33":"Hebrew Letter Dalet With Dagesh","</script>":"Browser Challenge"}',
      '{"\\n":"Newline","\\r":"Carriage Return","1":"One","</script>":"Browser Challenge","\u0080":"Control\u007f","\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign","\u{1f602}":"Smiley","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ],
  ])("writes %s as the RFC's author does", (_name, given, expected) => {
    expect(canonicalize(JSON.parse(given))).toBe(expected);
  });

  it('keeps a NUL as its escape, which JSON has a form for', () => {
    expect(canonicalize('\u0000')).toBe('"\\u0000"');
  });

  it.each([
    ['NaN', Number.NaN],
    ['an infinity', Number.NEGATIVE_INFINITY],
    ['a lone surrogate', 'a\ud800'],
    ['a lone surrogate in a key', { '\udc00': 1 }],
    ['a function', () => 1],
    ['a bigint', 1n],
    ['a symbol', [Symbol('x')]],
    ['undefined in an array', [undefined]],
  ])('refuses %s', (_what, value) => {
    expect(() => canonicalize(value)).toThrow(TypeError);
  });

  it('leaves out members that are undefined', () => {
    expect(canonicalize({ a: undefined, b: 1 })).toBe('{"b":1}');
  });
});

describe('isCanonicalText', () => {
  const says = (text: string) => {
    const value: unknown = JSON.parse(text);
    const slow = () => {
      try {
        return canonicalize(value) === text;
      } catch {
        return 'refused';
      }
    };
    let fast: unknown;
    try {
      fast = isCanonicalText(text, value);
    } catch {
      fast = 'refused';
    }
    expect(fast, text).toBe(slow());
    return fast;
  };

  it('gives the same result as writing the value again, for any text', () => {
    fc.assert(
      fc.property(
        json,
        fc.nat(),
        fc.constantFrom(' ', '0', '"', ',', '\\u0061'),
        (value, at, noise) => {
          const text = canonicalize(value);
          expect(says(text)).toBe(true);
          says(JSON.stringify(shuffled(value)));
          const place = at % (text.length + 1);
          const edited = text.slice(0, place) + noise + text.slice(place);
          try {
            JSON.parse(edited);
          } catch {
            return;
          }
          says(edited);
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ['{"a":1,"b":[{"c":2,"d":null}]}', true],
    ['{"b":1,"a":1}', false],
    ['{"a":[{"c":2,"b":null}]}', false],
    ['{"a":1,"a":1}', false],
    ['{"10":1,"9":2}', true],
    ['{"9":2,"10":1}', false],
    ['{"__proto__":{"b":1,"a":2}}', false],
    ['{"__proto__":{"a":1,"b":2}}', true],
    ['[-0]', false],
    ['[1.0]', false],
    ['[1e2]', false],
    ['["\\u0041"]', false],
    ['["\\u0000"]', true],
    ['["\\ud83d\\ude00"]', false],
    ['["\\\\ud"]', true],
    ['["\\ud800"]', 'refused'],
    [' []', false],
  ])('%s: %s', (text, expected) => expect(says(text)).toBe(expected));
});

it('gives the same result with what a strict parse reported of the text, for any text', () => {
  const odd = fc.constantFrom(
    ...['-0', '1.0', '1e3', '1E3', '0.1', '1e21', '12345678901234567890', '-5', '-1.50', '1e-7'],
  );
  const dictionary = fc.dictionary(fc.constantFrom('a', 'b', '1', '10', '2', 'é', '"'), json);
  const given = fc.tuple(
    fc.oneof(json, dictionary),
    odd,
    fc.constantFrom(0, 1, '\t'),
    fc.boolean(),
  );
  fc.assert(
    fc.property(given, ([value, number, blanks, isSorted]) => {
      const written = isSorted ? canonicalize(value) : JSON.stringify(value, null, blanks);
      for (const text of [written, `{"a":${number},"b":${written}}`, `[${number},${written} ]`]) {
        const writing = { isPlain: false };
        const options = { maxDepth: 1_000, maxNodes: 100_000, numbers: 'any', writing } as const;
        let parsed: unknown;
        try {
          parsed = parseStrictJson(text, options);
        } catch {
          continue;
        }
        expect(isCanonicalText(text, parsed, writing)).toBe(canonicalize(parsed) === text);
      }
    }),
    { numRuns: 1_000 },
  );
});
