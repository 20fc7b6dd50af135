import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  isSeen,
  isStorableText,
  Text,
  Timestamp,
  toStorableText,
  USUAL_TIMESTAMP,
  VisibleText,
} from './text.ts';

/** Among them NUL, blanks of all kinds, and halves of characters. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\u0000', ' ', '\t', '\u00a0', '\ufeff', '\u2028', '\n', '\ud800', '\udc00'),
    fc.string({ unit: 'binary', maxLength: 2 }),
  ),
  maxLength: 12,
});

/** What the schema's JSON Schema says of a text. */
function isDescribed(schema: z.ZodType, text: string): boolean {
  const { pattern = '' } = z.toJSONSchema(schema, { io: 'input' }) as { pattern?: string };
  expect(pattern).not.toBe('');
  return new RegExp(pattern).test(text);
}

describe('what JSON Schema says of a text is what is checked', () => {
  it.each([
    ['Text', Text],
    ['VisibleText', VisibleText],
  ] as const)('%s', (_, schema) => {
    fc.assert(
      fc.property(anyText, (text) => {
        // No UTF-8 has a lone surrogate: a schema says nothing of it.
        const isExpected = isDescribed(schema, text) && text.isWellFormed();
        expect(schema.safeParse(text).success).toBe(isExpected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('and Text is what every store can hold', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(Text.safeParse(text).success).toBe(isStorableText(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it('and any text can be made one, without a change where it is one', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const storable = toStorableText(text);
        expect(isStorableText(storable)).toBe(true);
        expect(storable).toHaveLength(text.length);
        if (isStorableText(text)) expect(storable).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it('and VisibleText leaves something when it is trimmed', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const parsed = VisibleText.trim().safeParse(text);
        if (parsed.success) expect(parsed.data).not.toBe('');
        else expect(!isStorableText(text) || /^[\s\p{Cc}]*$/u.test(text)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('in linear time', () => {
    // Half a million blanks, then what no text may have: quadratic work would be minutes.
    expect(VisibleText.safeParse(`${' a'.repeat(250_000)}\u0000`).success).toBe(false);
    expect(VisibleText.safeParse(`${' '.repeat(500_000)}\u0000`).success).toBe(false);
  });
});

describe('isSeen', () => {
  it.each([
    ['ann\u200d', 'a joiner at the end'],
    ['an\u200cn', 'a joiner of letters that are not joined'],
    ['\u200cann', 'a joiner at the beginning'],
    ['\u200d', 'nothing but a joiner'],
    ['آن\u200c', 'a joiner that keeps nothing apart'],
    ['ಲ್\u200c\u200c', 'two joiners'],
    ['ann\ufff9', 'an anchor of annotations'],
    ['an\u0651\u200cn', 'a joiner of letters that are not joined, behind a mark of others'],
    ['an\u2028n', 'an end of a line'],
  ])('not of %j (%s)', (name) => {
    expect(isSeen(name)).toBe(false);
  });

  it.each([
    'Zoë Müller',
    '东',
    'علی\u200cرضا',
    'حق\u0651\u200cپرست',
    'क्\u200dष',
    'ന്\u200d',
    'ರಾಹುಲ್\u200c ಜೋಶಿ',
    'ଷ୍ଟିଫେନ୍\u200c',
    'స్టీవ్\u200c',
    'O’Neill, Jr.',
    'a\u00a0b',
  ])('%j as it is', (name) => {
    expect(isSeen(name)).toBe(true);
  });

  it('in linear time', () => {
    for (const part of [
      '\u200d',
      ' ',
      'a\u200d',
      '\u0915\u200d',
      '\u00a0',
      '\u0651',
      '\u0642\u0651\u0651\u200c',
    ]) {
      const began = performance.now();
      isSeen(`a${part.repeat(500_000)}a`);
      expect(performance.now() - began).toBeLessThan(2_000);
    }
  });
});

describe('USUAL_TIMESTAMP', () => {
  const usual = new RegExp(`^${USUAL_TIMESTAMP}$`);

  it('matches nothing that is no time', () => {
    for (let month = 0; month <= 13; month++) {
      for (let day = 0; day <= 32; day++) {
        const [mm, dd] = [month, day].map((part) => String(part).padStart(2, '0'));
        for (const year of ['2026', '2028']) {
          const time = `${year}-${mm}-${dd}T23:59:59.999Z`;
          const isTime = Timestamp.safeParse(time).success;
          expect(usual.test(time), time).toBe(isTime && `${mm}-${dd}` !== '02-29');
        }
      }
    }
    for (const time of ['24:00:00.000', '00:60:00.000', '00:00:60.000', '00:00:00.00']) {
      expect(usual.test(`2026-01-01T${time}Z`)).toBe(false);
    }
  });
});
