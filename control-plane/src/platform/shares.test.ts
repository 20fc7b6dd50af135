import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createShares } from './shares.ts';

it('gives back what was taken, once', () => {
  const shares = createShares({ total: 3, perTenant: 2 });
  const first = shares.take('a', 2);
  expect(shares.take('a', 1)).toBeUndefined();
  expect(shares.take('b', 2)).toBeUndefined();
  expect(shares.take('b', 1)).toBeDefined();
  first?.();
  first?.();
  expect(shares.taken()).toBe(1);
  expect(shares.take('a', 2)).toBeDefined();
});

it('never gives more than there is, in all or to one, and loses nothing', () => {
  const step = fc.record({
    tenant: fc.constantFrom('a', 'b', 'c'),
    amount: fc.nat(4),
    giveBack: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const shares = createShares({ total: 10, perTenant: 6 });
      const held: { tenant: string; amount: number; back: () => void }[] = [];
      const sum = (tenant?: string) =>
        held.reduce((all, one) => all + (tenant && one.tenant !== tenant ? 0 : one.amount), 0);
      for (const { tenant, amount, giveBack } of steps) {
        const back = shares.take(tenant, amount);
        const fits = sum() + amount <= 10 && sum(tenant) + amount <= 6;
        expect(back !== undefined).toBe(fits);
        if (back) held.push({ tenant, amount, back });
        if (giveBack % 2)
          for (const one of held.splice(giveBack % (held.length + 1), 1)) one.back();
        expect(shares.taken()).toBe(sum());
      }
    }),
  );
});
