import { expect, it } from 'vitest';
import { z } from 'zod';
import { Name, nameUpTo } from './schemas.ts';

const problems = (text: string, schema = Name) =>
  schema.safeParse(text).error?.issues.map(({ message }) => message) ?? [];

it('keeps a name in NFC, without the blanks around it', () => {
  expect(Name.parse(' Cafe\u0301 ')).toBe('Caf\u00e9');
  // Case stays significant, and compatibility forms stay what they are.
  expect(Name.parse('CAF\u00c9')).toBe('CAF\u00c9');
  expect(Name.parse('\ufb01le \u2160')).toBe('\ufb01le \u2160');
});

it.each([
  'مدير', // right to left by itself
  'می\u200cخواهم', // a joiner that its language needs
  '👩\u200d💻',
  'naïve team 2',
])('takes %j', (name) => {
  expect(Name.parse(name)).toBe(name.normalize('NFC'));
});

it.each([
  '\u200b',
  '\u00ad\u2060 \ufeff',
  '\u3164',
  '\u115f\u1160',
  '\u{e0041}',
  ' \u200d\t',
])('refuses %j, of which nothing is seen', (name) => {
  expect(problems(name)).toEqual(['must not consist of invisible characters']);
});

it.each([
  '\u202eabc',
  'a\u2066b\u2069',
  'a\u200e',
  '\u200fa',
  'a\u061cb',
  'a\u202db',
])('refuses %j with its bidi control', (name) => {
  expect(problems(name)).toEqual(['must not contain a bidi control character']);
});

it.each(['', '  ', 'a\u0000b'])('says of %j what is wrong once', (name) => {
  expect(problems(name)).toEqual(['must not be empty or blank, nor contain a NUL character']);
});

it('bounds the name that is kept', () => {
  const longer = '\u0958';
  expect(longer.normalize('NFC')).toHaveLength(2);
  expect(problems(longer.repeat(2), nameUpTo(3))).toEqual([
    'must have at most 3 characters in NFC',
  ]);
  expect(problems('a'.repeat(4), nameUpTo(3))).toHaveLength(1);
  expect(nameUpTo(3).parse('a'.repeat(3))).toBe('aaa');
});

it('is described as it was', () => {
  expect(z.toJSONSchema(Name, { io: 'input' })).toMatchObject({ type: 'string', maxLength: 200 });
});
