/** The finder reports what plain loops find, whatever the text and wherever its windows end. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createUnitReader } from '../units.ts';
import { SIGN_ROW, SIGN_WINDOW, signFinder } from './sign-finder.ts';

const unitsOf = createUnitReader();

function rowsFound(text: string): number[] {
  const units = unitsOf(text);
  const finder = signFinder();
  const found: number[] = [];
  const keep = (end: number): void => {
    for (let i = 0; i < end; i += SIGN_ROW) {
      const [step = 0, first = 0, last = 0, digit = 0] = finder.rows.subarray(i, i + SIGN_ROW);
      found.push(step, first, last, last < 0 ? -1 : digit);
    }
  };
  finder.begin();
  for (let from = 0; from < text.length; from += SIGN_WINDOW) {
    keep(finder.findRows(units, from, text.length));
  }
  keep(finder.findLastRows());
  return found;
}

const isOfGroups = (step: number): boolean => step > 2 && step <= 9;

/** Character by character. */
function rowsExpected(text: string): number[] {
  const expected: number[] = [];
  const runs = new Map<string, { last: number; step: number; first: number }>();
  let digit = -1;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (/[0-9]/.test(sign)) digit = at;
    if (/[A-Za-z0-9]/.test(sign)) continue;
    if (sign.charCodeAt(0) < 128) {
      const { last, step: run, first } = runs.get(sign) ?? { last: -10, step: 0, first: 0 };
      const step = at - last;
      if (step === run) runs.set(sign, { last: at, step, first });
      else {
        runs.set(sign, { last: at, step, first: last });
        const isMore = last - first > 2 * run || (run >= 5 && digit > first - run);
        if (isMore && isOfGroups(run)) expected.push(run, first, last, digit);
      }
    }
    const isSecond = text[at + 2] === sign;
    if (!isSecond && sign.charCodeAt(0) < 128 && text[at + 1] !== sign) continue;
    if (sign <= ' ' && text[at + 1] === sign) continue;
    const step = isSecond ? 2 : 3;
    if (text[at + step] === sign && text[at + 5 * step] === sign) expected.push(step, at, -1, -1);
  }
  for (const [, { last, step, first }] of [...runs].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (isOfGroups(step)) expected.push(step, first, last, digit);
  }
  return expected;
}

function marksFound(text: string, areOthers: boolean): number[] {
  const units = unitsOf(text);
  const finder = signFinder();
  const found: number[] = [];
  for (let from = 0; from < text.length; from += SIGN_WINDOW) {
    const count = finder.findMarks(units, from, text.length, areOthers);
    for (const place of finder.places.subarray(0, count)) found.push(from + place);
  }
  return found;
}

const marksExpected = (text: string, marks: RegExp): number[] =>
  [...text.matchAll(marks)].map(({ index }) => index);

const sign = fc.constantFrom(
  ...'-. *:="\'`\n\0\x7f@[`{/',
  '\u0080',
  '\u00ff',
  '\u012d',
  '\u2028',
  '\u802d',
  '\uff0d',
  '\ud83d\ude00',
  '\ud800',
);
const group = fc.string({ unit: fc.constantFrom(...'abzAZ0189'), maxLength: 10 });
/** Signs between groups of one length, at most of the steps that count. */
const run = fc
  .tuple(sign, fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 9 }), group)
  .map(([one, length, count, letters]) =>
    `${letters.padEnd(10, 'x').slice(0, length)}${one}`.repeat(count),
  );
const part = fc.oneof(
  run,
  sign,
  group,
  fc.tuple(sign, sign).map(([one, other]) => `${one}${other}`.repeat(7)),
);
/** So that the windows of a text end anywhere in what follows. */
const before = fc.oneof(
  { weight: 2, arbitrary: fc.constant('') },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom('x', 'ab c1 '),
        fc.integer({ min: SIGN_WINDOW - 90, max: SIGN_WINDOW }),
      )
      .map(([one, length]) => one.repeat(length).slice(0, length)),
  },
);
const text = fc
  .tuple(before, fc.array(part, { maxLength: 30 }))
  .map(([start, parts]) => start + parts.join(''));

it('reports the signs at regular places, always', () => {
  let rows = 0;
  fc.assert(
    fc.property(text, (written) => {
      // Text that was read before is not part of it.
      rowsFound('-a'.repeat(100));
      const found = rowsFound(written);
      expect(found).toEqual(rowsExpected(written));
      rows += found.length;
    }),
    { numRuns: 1_000 },
  );
  expect(rows).toBeGreaterThan(1_000);
});

it('reports quotes, equals signs and colons, always', () => {
  fc.assert(
    fc.property(text, (written) => {
      marksFound('"\''.repeat(100), false);
      expect(marksFound(written, false)).toEqual(marksExpected(written, /["=:]/g));
      expect(marksFound(written, true)).toEqual(marksExpected(written, /['`]/g));
    }),
    { numRuns: 1_000 },
  );
});

it('reads a text of several windows', () => {
  const written = 'A-B-C-D-E-F-G-H and "words" = \'more\'; '.repeat(400);
  expect(rowsFound(written)).toEqual(rowsExpected(written));
  expect(marksFound(written, false)).toEqual(marksExpected(written, /["=:]/g));
});
