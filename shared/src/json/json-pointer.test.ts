import { expect, it } from 'vitest';
import { pointerStep, pointerWithoutText } from './json-pointer.ts';

it('is without names that are no words', () => {
  const names = [
    'arguments',
    'to',
    3,
    'anna@harborline.example',
    'a/b',
    'AKIAQ7MZ',
    'say this',
    '',
  ];
  const pointer = names.map(pointerStep).join('');
  expect(pointerWithoutText(pointer)).toBe('/arguments/to/3/*/*/*/*/');
  expect(pointerWithoutText('')).toBe('');
  expect(pointerWithoutText('/_meta/$ref/inputSchema')).toBe('/_meta/$ref/inputSchema');
});
