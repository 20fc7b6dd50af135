import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isoTime } from './iso-time.ts';

it('is the time that it was given, also where the same one comes again', () => {
  const times = fc.array(fc.constantFrom(0, 1, 999, 1_795_361_546_848, 1_795_361_546_849));
  fc.assert(
    fc.property(times, (all) => {
      for (const ms of all) expect(isoTime(ms)).toBe(new Date(ms).toISOString());
    }),
  );
});
