import { expect, it } from 'vitest';
import { countOf } from './counted-text.ts';

it.each([
  ['', 0],
  ['a', 0],
  ['a,', 1],
  [',a', 1],
  ['a,b;c|d\ne', 5],
  [' , \u00a0;a', 1],
  ['1-5', 5],
  ['1..5', 5],
  [' 1-101 ', 101],
  ['5-1', 0],
  ['1-5,7', 6],
  ['1-5, 10..20 ,a', 17],
  ['1-5-9', 0],
])('%j lists %i things', (text, things) => expect(countOf(text)).toBe(things));

it('counts the things of a megabyte', () => {
  expect(countOf(','.repeat(1024 * 1024))).toBe(0);
  expect(countOf('a,'.repeat(512 * 1024))).toBe(512 * 1024);
});
