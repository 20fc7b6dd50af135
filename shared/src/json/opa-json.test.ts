import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { opaHashForm } from './opa-json.ts';

describe('opaHashForm', () => {
  it('means the same document, whatever white space and key order it is written with', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const form = opaHashForm(JSON.stringify(value, null, 2));
        expect(JSON.parse(form)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(opaHashForm(form)).toBe(form);
      }),
    );
  });

  it('accepts what JSON.parse accepts and nothing else, but for what is ambiguous', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      '-',
      '.5',
      'e1',
      'true',
      ' ',
      '\\',
      '"',
      '\u0001',
      '01',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 8 }), (tokens) => {
        const text = tokens.join('');
        const parses = (run: () => unknown) => {
          try {
            run();
            return true;
          } catch {
            return false;
          }
        };
        const ambiguous = /"a":.*"a":/.test(text);
        if (!ambiguous) {
          expect(parses(() => opaHashForm(text))).toBe(parses(() => JSON.parse(text)));
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('keeps numbers as they are written', () => {
    expect(opaHashForm('[1.0, 1e2, 12345678901234567890, -0]')).toBe(
      '[1.0,1e2,12345678901234567890,-0]',
    );
  });

  it('sorts keys by their UTF-8 bytes, not by UTF-16 units', () => {
    expect(opaHashForm('{"\u{1f600}":1,"\ue000":2,"a":3}')).toBe(
      '{"a":3,"\ue000":2,"\u{1f600}":1}',
    );
  });

  it.each([
    ['a doubled key', '{"a":1,"a":1}'],
    ['a lone surrogate', '"\\ud800"'],
    ['deep nesting', '['.repeat(100_000)],
    ['an unterminated string', `"${'\\\\'.repeat(100_000)}`],
  ])('refuses %s', (_what, text) => {
    expect(() => opaHashForm(text)).toThrow(SyntaxError);
  });
});
