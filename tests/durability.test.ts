import { describe, expect, it } from 'vitest';
import { killRounds } from '../scripts/durability/kill-rounds.ts';
import { seededRandom } from '../scripts/durability/seeded-random.ts';

// The short version of `npm run test:durability`, which also shows the order of sync and forward.
describe('kill -9 under load', () => {
  it('leaves no acknowledged call without its decision, and every chain verifies', async () => {
    const report = await killRounds({ rounds: 3, callers: 8, random: seededRandom(11) });
    expect(report.problems).toEqual([]);
    expect(report.rounds).toBe(3);
    expect(report.acknowledged).toBeGreaterThan(0);
  }, 180_000);
});
