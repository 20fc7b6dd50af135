import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUuid, uuidv7 } from './ids.ts';
import { Id } from './text.ts';

describe('uuidv7', () => {
  it('carries the time it was given, and is a UUID to every reader', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (now) => {
        const id = uuidv7(now);
        expect(isUuid(id)).toBe(true);
        expect(Id.safeParse(id).success).toBe(true);
        expect(id[14]).toBe('7');
        expect(Number.parseInt(id.slice(0, 13).replace('-', ''), 16)).toBe(now);
      }),
    );
  });

  it('does not repeat, also where its pool of randomness is filled again', () => {
    const ids = new Set(Array.from({ length: 10_000 }, () => uuidv7(1)));
    expect(ids.size).toBe(10_000);
  });

  it('sorts by time', () => {
    expect(uuidv7(1_000) < uuidv7(1_001)).toBe(true);
  });
});

describe('isUuid', () => {
  it.each([
    '',
    'x',
    uuidv7().toUpperCase(),
    `${uuidv7()}\n`,
    uuidv7().replaceAll('-', ''),
  ])('refuses %j', (text) => {
    expect(isUuid(text)).toBe(false);
  });
});
