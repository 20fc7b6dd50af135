import { expect, test } from 'vitest';
import { createCompileCache } from './compile-cache.ts';

test('keeps the entries used last, within number and bytes', () => {
  const cache = createCompileCache<string>(3, 100);
  for (const key of ['a', 'b', 'c']) cache.put(key, key, 10);
  expect(cache.find('a')).toBe('a');
  cache.put('d', 'd', 10);
  expect(['a', 'b', 'c', 'd'].map((key) => cache.find(key))).toEqual(['a', undefined, 'c', 'd']);
  cache.put('e', 'e', 85);
  expect(['a', 'c', 'd', 'e'].map((key) => cache.find(key))).toEqual([
    undefined,
    undefined,
    'd',
    'e',
  ]);
});

test('does not keep what is too large alone, and forgets what is dropped', () => {
  const cache = createCompileCache<string>(3, 100);
  cache.put('a', 'small', 10);
  cache.put('a', 'large', 101);
  expect(cache.find('a')).toBeUndefined();
  cache.put('b', 'b', 100);
  cache.drop('b');
  cache.put('c', 'c', 100);
  expect(cache.find('b')).toBeUndefined();
  expect(cache.find('c')).toBe('c');
});
