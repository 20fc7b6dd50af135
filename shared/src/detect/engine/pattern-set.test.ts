import { describe, expect, it } from 'vitest';
import {
  createPatternSet,
  MAX_MATCHES_PER_PATTERN,
  MAX_REGEX_LENGTH,
  MAX_TENANT_PATTERNS,
  MAX_TEXT_LENGTH,
  PatternBudgetError,
  type PatternKind,
  PatternSyntaxError,
} from './pattern-set.ts';

function aSet(regexes: Readonly<Record<string, string>>, kind: PatternKind = 'builtin') {
  const patterns = Object.entries(regexes).map(([id, regex]) => ({ id, regex }));
  return createPatternSet(patterns, kind);
}

function textsOf(regex: string, text: string, kind?: PatternKind): string[] {
  return aSet({ it: regex }, kind)
    .find(text)
    .map(({ start, end }) => text.slice(start, end));
}

describe('matches', () => {
  it('of several patterns are sorted by start', () => {
    const set = aSet({ key: 'AKIA[0-9A-Z]{4}', word: '[a-z]+', digits: '\\d+', never: 'zzz9' });
    const text = 'ab AKIAXYZ1 7 cd';
    expect(set.hits(text)).toEqual(['key', 'word', 'digits']);
    expect(set.find(text)).toEqual([
      { id: 'word', start: 0, end: 2 },
      { id: 'key', start: 3, end: 11 },
      { id: 'digits', start: 10, end: 11 },
      { id: 'digits', start: 12, end: 13 },
      { id: 'word', start: 14, end: 16 },
    ]);
  });

  it('are told by offsets as JavaScript counts, whatever stands before them', () => {
    const before = [
      '',
      'é',
      '€',
      '😀',
      '👩‍👩‍👧',
      '\u200b',
      '\u00ad',
      '\ud800',
      '\udc00x',
      '\udc00\ud800',
      '𝟘',
    ];
    const set = aSet({ card: '4\\d{3}' });
    for (const first of before) {
      for (const second of before) {
        const text = `${first}4111${second}4222${first}`;
        const cut = set.find(text).map(({ start, end }) => text.slice(start, end));
        expect(cut, JSON.stringify(text)).toEqual(['4111', '4222']);
      }
    }
  });

  it('may hold characters outside the basic plane', () => {
    expect(textsOf('😀+.', 'a😀😀é')).toEqual(['😀😀é']);
    expect(textsOf('.', 'a😀\ud800b')).toEqual(['a', '😀', '\ud800', 'b']);
  });

  it('prefer alternatives as they are written, and the shorter where that is asked', () => {
    expect(textsOf('a|ab', 'ab')).toEqual(['a']);
    expect(textsOf('<.+?>', '<a><b>')).toEqual(['<a>', '<b>']);
  });

  it('are at most so many a pattern', () => {
    const set = aSet({ a: 'a', b: 'b' });
    const matches = set.find('a'.repeat(150) + 'b'.repeat(MAX_MATCHES_PER_PATTERN - 1));
    expect(matches.filter(({ id }) => id === 'a').at(-1)?.end).toBe(MAX_MATCHES_PER_PATTERN);
    expect(matches.filter(({ id }) => id === 'b')).toHaveLength(MAX_MATCHES_PER_PATTERN - 1);
  });

  it('look at what stands around them, in ASCII', () => {
    expect(textsOf('\\bcat\\b', 'cat scat écat cat_ cat')).toEqual(['cat', 'cat', 'cat']);
    expect(textsOf('\\d+', '12 ٣٤')).toEqual(['12']);
    expect(textsOf('[\\d\\s]+', '1 \u00a02')).toEqual(['1 ', '2']);
    expect(textsOf('\\W', 'aé_')).toEqual(['é']);
    expect(textsOf('(?m)^x$', 'x\nxx\nx')).toEqual(['x', 'x']);
  });

  it('are none in an empty text, and of an empty set', () => {
    expect(aSet({ a: 'a' }).find('')).toEqual([]);
    expect(aSet({}).hits('a')).toEqual([]);
  });
});

describe('an expression is refused', () => {
  const errorOf = (regex: string, kind: PatternKind = 'tenant') => {
    try {
      aSet({ first: 'a', second: regex }, kind);
    } catch (error) {
      return error as PatternSyntaxError;
    }
    throw new Error('it was taken');
  };

  it.each([
    ['a(b', 1, 'unclosed group'],
    ['é😀(b', 3, 'unclosed group'],
    ['a[z-a]', 2, 'invalid character class range'],
    ['x(?=y)', 1, 'look-around'],
    ['x(?<!y)', 1, 'look-around'],
    ['(a)\\1', 3, 'backreferences are not supported'],
    ['a{5,2}', 1, 'invalid repetition count range'],
    ['\\p{Nowhere}', 0, 'Unicode property not found'],
    ['a*', 0, 'matches the empty text'],
    ['', 0, 'matches the empty text'],
    ['x(?-u:.)', 6, 'invalid UTF-8'],
    [`${'('.repeat(200)}a${')'.repeat(200)}`, 100, 'nested'],
    ['(?:(?:a{0,30}){0,30}){0,30}b', 0, 'too large'],
    ['a'.repeat(MAX_REGEX_LENGTH + 1), MAX_REGEX_LENGTH, 'at most'],
  ])('%j', (regex, offset, message) => {
    const error = errorOf(regex);
    expect(error).toBeInstanceOf(PatternSyntaxError);
    expect(error.message).toContain(message);
    expect([error.id, error.offset]).toEqual(['second', offset]);
  });

  it('in any kind, and the engine goes on', () => {
    expect(errorOf('a(b', 'builtin')).toBeInstanceOf(PatternSyntaxError);
    expect(textsOf('b', 'abc', 'tenant')).toEqual(['b']);
  });
});

describe('a budget', () => {
  /** Aperiodic bits, always the same. */
  const bits = (length: number) => {
    let state = 1;
    return Array.from({ length }, () => {
      state = (state * 48_271) % 2_147_483_647;
      return state & 1;
    }).join('');
  };

  it('ends a tenant’s set that meets ever new states', () => {
    const set = aSet({ hostile: '1[01]{1000}x' }, 'tenant');
    expect(() => set.hits(bits(20_000))).toThrow(PatternBudgetError);
    expect(() => set.find(bits(20_000))).toThrow(PatternBudgetError);
    expect(set.hits('plain text')).toEqual([]);
  });

  it('does not count what other texts have cost', () => {
    const set = aSet({ wide: '1[01]{60}x' }, 'tenant');
    const all = bits(400_000);
    for (let at = 0; at < all.length; at += 1_000) {
      expect(set.hits(all.slice(at, at + 1_000))).toEqual([]);
    }
  });

  it('ends finding that would read the text again for each match', () => {
    // Each search reads to the end without result for the first branch.
    const patterns = Array.from({ length: 40 }, (_, i) => [`p${i}`, `a[^b]*b|a(?:${i})?`]);
    const set = aSet(Object.fromEntries(patterns), 'tenant');
    const text = 'a'.repeat(100_000);
    expect(set.hits(text)).toHaveLength(40);
    expect(() => set.find(text)).toThrow(PatternBudgetError);
    expect(aSet({ one: 'a[^b]*b|a' }, 'builtin').find(text)).toHaveLength(100);
  });

  it('bounds how many patterns there are, and how large all are together', () => {
    const many = Array.from({ length: MAX_TENANT_PATTERNS }, (_, i) => [`p${i}`, `secret-${i}`]);
    expect(aSet(Object.fromEntries(many), 'tenant').hits('a secret-7!')).toEqual(['p7']);
    expect(() => aSet(Object.fromEntries([...many, ['more', 'x']]), 'tenant')).toThrow(
      PatternBudgetError,
    );
    const large = many.map(([id = '']) => [id, `${id}[a-z]{400}`]);
    expect(() => aSet(Object.fromEntries(large), 'tenant')).toThrow(PatternBudgetError);
  });

  it('bounds the text', () => {
    const text = 'a'.repeat(MAX_TEXT_LENGTH);
    const set = aSet({ end: 'a\\z' }, 'tenant');
    expect(set.find(text)).toEqual([
      { id: 'end', start: MAX_TEXT_LENGTH - 1, end: MAX_TEXT_LENGTH },
    ]);
    expect(() => set.hits(`${text}a`)).toThrow(RangeError);
  });
});

it('a closed set compiles again when it is used', () => {
  const set = aSet({ a: 'a+' });
  set.close();
  set.close();
  expect(set.find('caab')).toEqual([{ id: 'a', start: 1, end: 3 }]);
});
