import { expect, it } from 'vitest';
import { fuzzEvidence } from '../testing/fuzz.ts';

// The whole run is `npm run fuzz:evidence`.
it('none of some hundred mutated packages is verified', async () => {
  expect(await fuzzEvidence(20_260_102, 300)).toMatchObject({ verified: [] });
});
