import { expect, it } from 'vitest';
import { coverRemoved } from './cover-removed.ts';

const covered = (value: unknown, removed: string[], part: 'input' | 'members' | 'result') =>
  coverRemoved(value, removed, part)?.value;

it('covers a text in texts, in names and in numbers', () => {
  const value = { 'by hunter22x': 1, at: ['/srv/hunter22x', 9_123_456, 12], is: true, none: null };
  expect(covered(value, ['hunter22x', '123456', '12'], 'result')).toEqual({
    'by [REDACTED]': 1,
    at: ['/srv/[REDACTED]', '[REDACTED]', 12],
    is: true,
    none: null,
  });
});

it('covers a number of more digits than a double keeps by its value', () => {
  const exact = '12345678901234567890';
  const number = Number(exact);
  const value = { in: `id ${exact}, not ${exact}0`, number, minus: [-number], [exact]: 12 };
  const expected = {
    in: `id [REDACTED], not ${exact}0`,
    number: '[REDACTED]',
    minus: ['[REDACTED]'],
    '[REDACTED]': 12,
  };
  // As a number it was removed with the digits of a double, as a text with its own.
  expect(covered(value, [String(number)], 'result')).toEqual(expected);
  expect(covered({ number }, [exact], 'result')).toEqual({ number: '[REDACTED]' });
  const digits = `1${'0'.repeat(21)}`;
  expect(covered([digits, 1e21, '1E21'], ['1e+21'], 'result')).toEqual(Array(3).fill('[REDACTED]'));
  expect(covered('0.12345678901234567890', ['0.12345678901234568'], 'result')).toBe('[REDACTED]');
});

it('covers a text as JSON writes it, once and twice', () => {
  const text = 'hunter"22x';
  const once = JSON.stringify({ a: text });
  const twice = JSON.stringify({ b: once });
  expect(covered([once, twice], [text], 'result')).toEqual([
    '{"a":"[REDACTED]"}',
    '{"b":"{\\"a\\":\\"[REDACTED]\\"}"}',
  ]);
});

it('leaves the names by which later steps know the parts of an input', () => {
  const value = { agent: { name: 'name' }, request: { parameters: { agent: 'agent' } } };
  expect(covered(value, ['agent', 'name'], 'input')).toEqual({
    agent: { name: '[REDACTED]' },
    request: { parameters: { '[REDACTED]': '[REDACTED]' } },
  });
});

it('says where there is too much to look through', () => {
  const removed = Array.from({ length: 20_000 }, (_, i) => `filler-${i}`);
  expect(covered({ a: 'filler-7!' }, removed, 'result')).toEqual({ a: '[REDACTED]!' });
  expect(coverRemoved({ a: 'x'.repeat(100_000) }, removed, 'result')).toBeUndefined();
});
