/** The loops read what the expressions that they replace would match. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SIGN_WINDOW } from '../../engine/sign-finder.ts';
import { rot13 } from '../../rot13.ts';
import { createUnitReader } from '../../units.ts';
import { foldedCharacters, mayBeEscaped } from './characters.ts';
import { escapes } from './escapes.ts';
import { eachLiteral } from './literals.ts';
import { regularlySeparated } from './regular.ts';
import { decodeRun, encodedRuns, mayDecode, sortsIn } from './runs.ts';
import { holdsWords } from './split.ts';

const unitsOf = createUnitReader();

const EXPRESSIONS = [
  /"((?:[^"\\\n]|\\.){0,400})"|(?<=[=:] {0,2})([A-Za-z0-9+/][A-Za-z0-9+/_.\-=]{1,200})(?=[\s,;&)}\]]|$)/g,
  /'((?:[^'\\\n]|\\.){0,400})'|`([^`\n]{0,400})`/g,
];

function matched(text: string): { text: string; start: number }[] {
  return EXPRESSIONS.flatMap((expression) =>
    [...text.matchAll(expression)]
      .map((match) => ({ match, isQuoted: /^["'`]/.test(match[0]) }))
      .filter(({ match, isQuoted }) => {
        const end = match.index + match[0].length;
        return !isQuoted || !/^\s{0,3}:/.test(text.slice(end, end + 4));
      })
      .map(({ match, isQuoted }) => ({
        text: match[1] ?? match[2] ?? '',
        start: match.index + Number(isQuoted),
      })),
  );
}

function read(text: string): { text: string; start: number }[] {
  const pieces: { text: string; start: number }[] = [];
  eachLiteral(text, (piece) => pieces.push({ text: piece.text, start: piece.start }));
  return pieces;
}

it('reads the literals of a text, always', () => {
  const part = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom('"', "'", '`', '=', ':', '= ', ':  ', '\\', '\n', ' '),
    },
    { weight: 2, arbitrary: fc.constantFrom('ab', 'x1', ',', ')', '\u2028', '\u00a0', '\0', '/') },
    fc.string({ maxLength: 5 }),
    fc.constantFrom('a'.repeat(200), 'b'.repeat(201), 'c '.repeat(200), 'd-'.repeat(201)),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const text = parts.join('');
      // Text that was read before is not part of it.
      read('"'.repeat(text.length + 20));
      expect(read(text)).toEqual(matched(text));
    }),
    { numRuns: 1_000 },
  );
});

it('reads a run to the end of its last line and its padding, always', () => {
  const words = fc.array(fc.constantFrom('plain', 'words', 'of Two', 'sizes: 4', 'ü'), {
    minLength: 4,
    maxLength: 60,
  });
  const width = fc.integer({ min: 10, max: 25 }).map((quarters) => 4 * quarters);
  const lineEnd = fc.constantFrom('\n', '\r\n', '\\n', '\n    ', '\r\n\t');
  const around = fc.constantFrom('', ' ', '\n', '(', '"', 'ü');
  fc.assert(
    fc.property(words, width, lineEnd, around, around, (said, columns, end, before, after) => {
      const plain = said.join(' ');
      const lines = Buffer.from(plain)
        .toString('base64')
        .match(new RegExp(`.{1,${columns}}`, 'g'));
      const all = lines ?? [];
      // Whether a short last line belongs to the run cannot be told.
      fc.pre((all.at(-1)?.replace(/=+$/, '').length ?? 0) >= 12);
      const run = all.join(end);
      const text = `${before}${run}${after}`;
      const [found, ...more] = encodedRuns(text, unitsOf(text));
      expect(more).toEqual([]);
      expect(found).toMatchObject({ start: before.length, end: before.length + run.length });
      expect(found?.replacement).toBe(plain);
    }),
  );
});

it('passes over no run that holds a text, always', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-';
  const word = fc.constantFrom('Name', 'of', 'customer', 'Über', '2026-10-11T08', '—', '字', '\n');
  const said = fc.oneof(
    fc.array(word, { minLength: 2, maxLength: 8 }).map((words) => words.join(' ')),
    fc.string({ unit: 'binary', minLength: 4, maxLength: 24 }),
    fc.uint8Array({ minLength: 8, maxLength: 24 }),
  );
  const turned = (text: string): string => [...text].reverse().join('');
  const disguise = fc.constantFrom(
    (run: string) => run,
    turned,
    rot13,
    (run: string) => `x${run}`,
  );
  const encoding = fc.constantFrom('base64', 'base64url', 'hex', 'utf16le' as const);
  const encoded = fc.tuple(said, encoding, disguise, fc.nat(3)).map(([what, how, hide, cut]) => {
    const bytes =
      how === 'utf16le' && typeof what === 'string' ? Buffer.from(what, how) : Buffer.from(what);
    const run = bytes.toString(how === 'utf16le' ? 'base64' : how).replace(/=+$/, '');
    return hide(run.slice(0, run.length - cut));
  });
  const random = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 12, maxLength: 40 });
  const name = fc.constantFrom(
    'CustomerService',
    '2026-10-11T08',
    'src/Main',
    'H4sIAAAA',
    'eJwAAA',
  );
  const run = fc.oneof(
    encoded,
    random,
    fc.tuple(name, random).map((parts) => parts.join('/')),
  );
  let passed = 0;
  fc.assert(
    fc.property(run, (text) => {
      fc.pre(text.length >= 12 && /^[A-Za-z0-9+/_-]+$/.test(text));
      const units = unitsOf(text);
      if (mayDecode(units, 0, text.length, sortsIn(text))) return;
      passed += 1;
      expect(decodeRun(text, () => undefined)).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
  expect(passed).toBeGreaterThan(100);
});

it('passes over no text with an escape or a look-alike, always', () => {
  const part = fc.oneof(
    fc.constantFrom('%41', '&amp;', '&#65;', '\\u0041', '=41=42', 'a<b>c', 'U+0041 ', 'a/*b*/c'),
    fc.constantFrom('\u0430', '\uff41', '\u200b', '\u{1d7d8}', '\u2028', '\u0085', 'é', '\ud800'),
    fc.constantFrom('word ', '\n', '+', '/', '*', 'x'.repeat(200)),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      const units = unitsOf(text);
      const found = escapes(text).length + foldedCharacters(text, units).length > 0;
      if (found) expect(mayBeEscaped(text, units)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

it('takes for words what the expression does, always', () => {
  const part = fc.oneof(
    fc.constantFrom(
      'ab',
      'a',
      'Ab',
      'é',
      'ßü',
      ' ',
      '.',
      '! ',
      ', ',
      '\t',
      '\u2028',
      '\u00a0',
      '7',
    ),
    fc.string({ maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const text = parts.join('');
      expect(holdsWords(text)).toBe(/[^\S ]|[a-zà-ÿ]{2,}[.,!?]? [a-zA-Z]/.test(text));
    }),
    { numRuns: 3_000 },
  );
});

it('finds signs at one step wherever their run begins and ends', () => {
  const key = 'AKIA-IOSF-ODNN-7EXA-MPLE';
  const before = fc.array(fc.constantFrom('a word ', 'the ', 'x=1 ', '\n', '(no) '), {
    minLength: 90,
    maxLength: 180,
  });
  fc.assert(
    fc.property(before, fc.nat(30), fc.constantFrom('', ' and more'), (parts, shift, after) => {
      // Windows of characters are read together: the run crosses the end of the first.
      const start = `${parts.join('').padStart(SIGN_WINDOW - 1 - shift, 'words ')}\n`;
      const text = `${start}${key}${after}`;
      const edits = regularlySeparated(text, unitsOf(text));
      const it = edits.find((edit) => edit.start === start.length);
      expect(it?.replacement).toBe('AKIAIOSFODNN7EXAMPLE');
    }),
    { numRuns: 500 },
  );
});
