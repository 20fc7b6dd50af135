import { expect, it } from 'vitest';
import { fuzzEvidence } from '../testing/fuzz.ts';

// The whole run is `npm run fuzz:evidence`.
it('none of some hundred mutated packages is verified or ends in an error, of any class', async () => {
  const { verified, crashes, classes, packages } = await fuzzEvidence(20_260_102, 340);
  expect({ verified, crashes, packages }).toEqual({ verified: [], crashes: [], packages: 340 });
  expect(Object.keys(classes).length).toBeGreaterThan(30);
  expect(Object.values(classes).filter((one) => one.packages < 5)).toEqual([]);
});
