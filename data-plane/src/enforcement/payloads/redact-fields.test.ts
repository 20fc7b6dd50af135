import { expect, it } from 'vitest';
import { redactFields } from './redact-fields.ts';

const names = new Set(['password', 'iban']);

it('takes named members out, at any depth, in any case, and out of texts that are JSON', () => {
  const value = {
    user: 'a',
    Password: 'b',
    list: [{ iban: 'c', name: 'd' }, ['e', { PASSWORD: { deep: 1 } }]],
    text: '{"password":"f","kept":[1,2]}',
    plain: '[not JSON',
    password_hint: 'g',
  };
  expect(redactFields(value, names)).toEqual({
    user: 'a',
    list: [{ name: 'd' }, ['e', {}]],
    text: '{"kept":[1,2]}',
    plain: '[not JSON',
    password_hint: 'g',
  });
});

it('a text without such members stays as it was written', () => {
  expect(redactFields('{ "a": 1 }', names)).toBe('{ "a": 1 }');
});

it.each([
  ['a key that is there twice', '{"a":{"password":"hunter2"},"a":1}', '{"a":1}'],
  ['a key in escapes', '{"p\\u0061ssword":"hunter2"}', '{}'],
  [
    'a key in escapes, in JSON in a JSON text',
    `{"x":"{\\"p\\\\u0061ssword\\":\\"hunter2\\"}"}`,
    '{"x":"{}"}',
  ],
  ['a key in escaped escapes', `{"x":"{\\"p\\u005cu0061ssword\\":\\"hunter2\\"}"}`, '{"x":"{}"}'],
  [
    'escapes of escapes of escapes',
    `a: ${'\\u005c'.repeat(9)}u0061 ${'\\u005cu005cu005cu005cu005cu0061'}`,
    '[REDACTED]',
  ],
  ['JSON in a JSON text', JSON.stringify('{"password":"hunter2"}'), '"{}"'],
  ['a byte order mark', '\ufeff{"password":"hunter2"}', '[REDACTED]'],
  ['lines of JSON', '{"password":"hunter2"}\n{"password":"hunter2"}', '[REDACTED]'],
  ['JSON within words', 'Here: {"Password" : "hunter2"}', '[REDACTED]'],
  ['JSON that ends too early', '{"a":{"password":"hunter2"', '[REDACTED]'],
  ['words', 'the password: yours', 'the password: yours'],
])('a text with %s', (_, text, expected) => {
  expect(redactFields(text, names)).toBe(expected);
});

it.each([
  ['card/number', '{"card\\/number":"hunter2"}', '{}'],
  ['a"b', '{"a\\"b":"hunter2"}', '{}'],
  ["a'b", '{"a\'b":"hunter2"}', '{}'],
  ['a\\b', '{"a\\\\b":"hunter2"}', '{}'],
  ['a\\', '{"a\\\\":"hunter2"}', '{}'],
  ['\\', '{"\\\\":"hunter2"}', '{}'],
  ['a\tb\n', '{"a\\tb\\u000a":"hunter2"}', '{}'],
  ['a\\u0061', '{"a\\\\u0061":"hunter2"}', '{}'],
  ['card/number', JSON.stringify({ x: '{"card\\/number":"hunter2"}' }), '{"x":"{}"}'],
  ['a"b', JSON.stringify({ x: '{"a\\"b":"hunter2"}' }), '{"x":"{}"}'],
  ['a\tb', 'So: {"a\\tb":"hunter2"}', '[REDACTED]'],
  ['password', '{"password"/* mine */:"hunter2"}', '[REDACTED]'],
  ['password', '{"password" // mine\n:"hunter2"}', '[REDACTED]'],
  ['password', '{"password"\u00a0\f:"hunter2"}', '[REDACTED]'],
  ['password', '{"pass\\x77ord":"hunter2"}', '[REDACTED]'],
  ['password', '{"\\u{70}assword":"hunter2"}', '[REDACTED]'],
  ['card/number', 'card\\/number: "see there"', 'card\\/number: "see there"'],
  ['password', 'a "password" / a key: both', 'a "password" / a key: both'],
])('the name %j is found in %s', (name, text, expected) => {
  expect(redactFields(text, new Set([name]))).toBe(expected);
});

it('a text of more levels than are written again is taken out', () => {
  const deep = `{"password":"hunter2","x":${'['.repeat(1e5)}${']'.repeat(1e5)}}`;
  expect(redactFields(deep, names)).not.toContain('hunter2');
});

it('a text of backslashes alone is read in no time', () => {
  const text = `password: \\u0061${'\\'.repeat(1e6)}`;
  const comments = `:${'"password"/'.repeat(1e5)}`;
  const began = performance.now();
  expect(redactFields(text, names)).toBe(text);
  expect(redactFields(comments, names)).toBe(comments);
  expect(performance.now() - began).toBeLessThan(5_000);
});

it('says which texts the removed members held', () => {
  const removed = new Set<string>();
  redactFields({ iban: ['one', { a: 22 }], text: '{"password":"three"}' }, names, removed);
  expect([...removed]).toEqual(['one', '22', 'three']);
});

it('a value of too many levels is taken out', () => {
  let value: unknown = { iban: 'x' };
  for (let level = 0; level < 5_000; level++) value = [value];
  expect(JSON.stringify(redactFields(value, names))).not.toContain('x');
});

it('tells the texts of what it removes, and names within it that are no words', () => {
  const removed = new Set<string>();
  const staff = { 'anna@corp.example': ['a', 7], 4711: { city: 'Kiel', line1: null }, '@type': 1 };
  const value = { staff: [staff, ...Array(2_000).fill(true)], kept: 'x' };
  expect(redactFields(value, new Set(['staff']), removed)).toEqual({ kept: 'x' });
  expect([...removed].sort()).toEqual(['1', '4711', '7', 'Kiel', 'a', 'anna@corp.example']);
});
