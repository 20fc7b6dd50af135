import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrictJson, StrictJsonError, type StrictJsonReason } from './strict-json.ts';

const parse = (input: string | Uint8Array, maxDepth = 64) =>
  parseStrictJson(input, { maxDepth, maxNodes: 1000 });

function refusal(input: string | Uint8Array): StrictJsonReason | null {
  try {
    parse(input);
    return null;
  } catch (error) {
    if (error instanceof StrictJsonError) return error.reason;
    throw error;
  }
}

/** Digits and power of ten of a decimal, by whole numbers alone. */
function exactly(token: string): [bigint, number] {
  const [mantissa = '', exponent = '0'] = token.split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  let value = BigInt(whole + fraction);
  let power = Number(exponent) - fraction.length;
  for (; value !== 0n && value % 10n === 0n; value /= 10n) power++;
  return [value, value === 0n ? 0 : power];
}

/** Whether the nearest double, as it is serialised, says the same. */
function isShortest(token: string): boolean {
  return exactly(token).join() === exactly(String(Number(token))).join();
}

describe('parseStrictJson', () => {
  it.each<[string, StrictJsonReason]>([
    ['', 'syntax'],
    ['{', 'syntax'],
    ['"abc', 'syntax'],
    ['{"a":1,}', 'syntax'],
    ['[01]', 'syntax'],
    ['[1-2]', 'syntax'],
    ['\ufeff{}', 'syntax'],
    ['{"a":1,"a":1}', 'duplicate_key'],
    ['{"a":1,"\\u0061":2}', 'duplicate_key'],
    ['[{"b":{"a":{},"c":0,"a":[]}}]', 'duplicate_key'],
    ['{"__proto__":{}}', 'proto_key'],
    ['{"a":[{"\\u005f_proto__":1}]}', 'proto_key'],
    ['{"__proto__":1,"__proto__":2}', 'proto_key'],
    ['9007199254740993', 'number'],
    ['[-9007199254740992]', 'number'],
    ['{"a":1e400}', 'number'],
    ['{"a":-1e400}', 'number'],
    ['{"a":1e-400}', 'number'],
    ['0.1000000000000000055511151231257827', 'number'],
    ['1.0000000000000000001', 'number'],
    ['123456789012345678901234567890', 'number'],
    ['"\\ud800"', 'surrogate'],
    ['{"\\udc00":1}', 'surrogate'],
    ['["a\\ud83d b"]', 'surrogate'],
    ['"\ud800"', 'surrogate'],
    [`${'['.repeat(65)}${']'.repeat(65)}`, 'depth'],
    ['['.repeat(1_000_000), 'depth'],
    ['{"a":'.repeat(100_000), 'depth'],
    [`[${'1'.repeat(41)}]`, 'number_length'],
    [`0.1${'0'.repeat(16_000)}1`, 'number_length'],
    [`1e${'0'.repeat(1_000_000)}`, 'number_length'],
    ['-'.repeat(1_000_000), 'number_length'],
    [`{"${'a'.repeat(8193)}":1}`, 'key_length'],
    [`[${'[],'.repeat(500)}[]]`, 'nodes'],
    [`{"a":1${',"a":1'.repeat(500)}}`, 'nodes'],
    [`{"a":[${'0,'.repeat(1_000_000)}`, 'nodes'],
  ])('refuses %.60s', (text, reason) => {
    expect(refusal(text)).toBe(reason);
  });

  it.each([
    ['0'],
    ['-1.5'],
    ['1.10'],
    ['1e2'],
    ['1E+300'],
    ['0.30000000000000004'],
    ['9007199254740991'],
    ['-9007199254740991'],
    ['5e-324'],
    [`${'0.'.padEnd(38, '0')}e9`],
    [`{"${'a'.repeat(8192)}":1}`],
    [`[${'0,'.repeat(998)}0]`],
    ['1.7976931348623157e308'],
    ['0e999'],
    ['"\\ud83d\\ude00 \\u0000"'],
    ['"constructor"'],
    ['{"constructor":1,"prototype":2,"a:b":"{,}"}'],
    ['"a long string of more than twenty-four characters with \\" and \\\\"'],
    [`${'['.repeat(64)}${']'.repeat(64)}`],
  ])('accepts %.60s', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it('takes bytes, and refuses those that are not UTF-8', () => {
    expect(parse(Buffer.from('{"ä":"€😀"}'))).toEqual({ ä: '€😀' });
    expect(refusal(Uint8Array.of(0x22, 0xff, 0x22))).toBe('utf8');
    // A surrogate encoded as UTF-8.
    expect(refusal(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22))).toBe('utf8');
  });

  it('returns -0 as it will be serialised', () => {
    expect(Object.is(parse('-0'), 0)).toBe(true);
    expect(Object.is((parse('[-0.0]') as number[])[0], 0)).toBe(true);
    expect(Object.is((parse('{"a":-0e1}') as { a: number }).a, 0)).toBe(true);
  });

  it('accepts every value that JSON.stringify writes, integers past 2^53 apart', () => {
    const safe = (value: unknown): boolean =>
      typeof value === 'number'
        ? !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21
        : typeof value !== 'object' || value === null || Object.values(value).every(safe);
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.boolean(), (value, pretty) => {
        const text = JSON.stringify(value, null, pretty ? 2 : 0);
        fc.pre(safe(value) && text.isWellFormed() && !text.includes('\\ud'));
        fc.pre(!text.includes('__proto__'));
        const parsed = parse(text);
        expect(parsed).toEqual(JSON.parse(JSON.stringify(value)));
        expect(parse(Buffer.from(text))).toEqual(parsed);
      }),
      { numRuns: 500 },
    );
  });

  it('agrees with JSON.parse after a round trip for any accepted text', () => {
    const pieces = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"', '"a"', '"a"', '\\', '\\"', '\\u0061', '\\ud800', '-'],
      ...['0', '-0', '1', '12', '.5', 'e9', '1e400', '9007199254740993', 'true', 'null', ' ', '\n'],
      ...['"__proto__"', 'ä', '😀', '\u0000', '{"a":1,"a":2}', '{"b":[1,{"c":""}]}'],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        let value: unknown;
        try {
          value = parse(text);
        } catch (error) {
          expect(error).toBeInstanceOf(StrictJsonError);
          return;
        }
        expect(value).toEqual(JSON.parse(JSON.stringify(value)));
        expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 5_000 },
    );
  });

  it('finds any repeated key, wherever it lies', () => {
    const tree = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), {
      minKeys: 1,
      maxKeys: 5,
    });
    fc.assert(
      fc.property(tree, fc.nat(), (value, pick) => {
        const keys = Object.keys(value).filter((key) => key !== '__proto__');
        fc.pre(keys.length > 0);
        const key = keys[pick % keys.length] ?? '';
        const twice = `${JSON.stringify({ [key]: 1 }).slice(0, -1)},${JSON.stringify(value).slice(1)}`;
        expect(() => parse(`{"x":[${twice}]}`)).toThrow(StrictJsonError);
      }),
    );
  });

  it('bounds numbers also where it leaves them alone', () => {
    const read = (text: string) =>
      parseStrictJson(text, { maxDepth: 8, maxNodes: 8, numbers: 'any' });
    expect(read(`[${'9'.repeat(40)}]`)).toHaveLength(1);
    expect(() => read(`[${'9'.repeat(41)}]`)).toThrow('40 characters');
  });

  it('says the same of a number however it is written', () => {
    const digits = fc.stringMatching(/^[0-9]{1,12}$/);
    fc.assert(
      fc.property(digits, digits, fc.integer({ min: -30, max: 30 }), (whole, fraction, shift) => {
        // The same number with and without zeros that mean nothing.
        const plain = `${BigInt(whole)}.${fraction}e${shift}`;
        const padded = `${BigInt(whole)}.${fraction}000e${shift}`;
        expect(refusal(padded)).toBe(refusal(plain));
        const value = Number(plain);
        if (!Number.isInteger(value)) expect(refusal(String(value))).toBeNull();
      }),
    );
  });

  it('agrees with exact arithmetic on which decimals a double carries', () => {
    const digits = fc.stringMatching(/^[0-9]{1,9}$/);
    const zeros = fc.nat({ max: 6 }).map((count) => '0'.repeat(count));
    fc.assert(
      fc.property(
        ...([digits, digits, digits, zeros, fc.integer({ min: -290, max: 270 })] as const),
        (whole, middle, last, padding, exponent) => {
          const token = `${BigInt(whole)}.${middle}${last}${padding}e${exponent}`;
          fc.pre(token.length <= 40);
          expect(refusal(token)).toBe(isShortest(token) ? null : 'number');
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('leaves numbers alone on request, and reports the members of the outer object', () => {
    const memberSpans: number[] = [];
    const text = '{"id": 7 , "result":{"n":9007199254740993,"s":"},:"}}';
    parseStrictJson(text, { maxDepth: 8, maxNodes: 100, numbers: 'any', memberSpans });
    const spans = [];
    for (let i = 0; i < memberSpans.length; i += 2) {
      spans.push(text.slice(memberSpans[i], memberSpans[i + 1]).trim());
    }
    expect(spans).toEqual(['7', '{"n":9007199254740993,"s":"},:"}']);
  });
});
