import { describe, expect, it } from 'vitest';
import { createAppliedBarrier, type TenantProgress } from './applied-barrier.ts';

function aTenant(reached: (kicks: number, ms: number) => boolean) {
  let kicks = 0;
  const progress: TenantProgress = {
    waitForFeed: async (_seq, ms) => reached(kicks, ms),
    waitForRules: async (_revision, ms) => reached(kicks, ms),
    kick: () => {
      kicks++;
    },
  };
  return { progress, kicks: () => kicks };
}

describe('the applied barrier', () => {
  const warnings: object[] = [];
  const log = {
    info: () => undefined,
    warn: (fields: object) => void warnings.push(fields),
    error: () => undefined,
  };
  const target = { feedSeq: 3, bundleRevision: 7 };

  it('does not disturb the loops when the change arrives by itself', async () => {
    const { progress, kicks } = aTenant(() => true);
    await createAppliedBarrier(() => progress, log).wait('t', target);
    expect(kicks()).toBe(0);
  });

  it('kicks the loops when it does not', async () => {
    const { progress, kicks } = aTenant((count) => count > 0);
    await createAppliedBarrier(() => progress, log).wait('t', target);
    expect(kicks()).toBe(1);
    expect(warnings).toEqual([]);
  });

  it('answers eventually nevertheless, and says so in the log', async () => {
    const { progress } = aTenant(() => false);
    await createAppliedBarrier(() => progress, log, 5).wait('t', target);
    expect(warnings).toEqual([{ tenantId: 't', ...target }]);
  });

  it('has nothing to wait for where the tenant is not served', async () => {
    await createAppliedBarrier(() => undefined, log).wait('t', target);
    expect(warnings).toHaveLength(1);
  });
});
