import { describe, expect, it } from 'vitest';
import { namesEntityTag, preferredWaitSeconds } from './prefer-wait.ts';

describe('Prefer', () => {
  it.each([
    ['modes=snapshot,delta;wait=30', 30],
    ['wait=10', 10],
    ['respond-async, wait=5', 5],
    ['Wait = "7"', 7],
    ['modes=snapshot,delta', 0],
    ['wait=-1', 0],
    ['wait=99999999999999', 0],
    ['xwait=3', 0],
    [undefined, 0],
  ])('%s asks for %d s', (header, seconds) => {
    expect(preferredWaitSeconds(header)).toBe(seconds);
  });
});

describe('If-None-Match', () => {
  it.each([
    ['"abc"', true],
    ['abc', true],
    ['W/"abc"', true],
    ['"old", "abc"', true],
    ['"ab"', false],
    ['*', true],
    [undefined, false],
  ])('%s', (header, expected) => {
    expect(namesEntityTag(header, 'abc')).toBe(expected);
  });
});
