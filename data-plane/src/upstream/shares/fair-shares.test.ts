import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Cancellation } from '../upstream.ts';
import { FairShares, type ShareAccount, shareAccount } from './fair-shares.ts';

const LIMITS = { agent: 8, tenant: 32, way: 64, waitMs: 20 };
const accountOf = (tenant: string, agent: string) => shareAccount(tenant, agent, 'http://up');

function takeAll(shares: FairShares, account: ShareAccount): number {
  let taken = 0;
  while (shares.tryTake(account)) taken++;
  return taken;
}

describe('what may be under way', () => {
  it('is bounded by agent', () => {
    const shares = new FairShares(LIMITS);
    expect(takeAll(shares, accountOf('one', 'a'))).toBe(8);
    expect(takeAll(shares, accountOf('one', 'b'))).toBe(8);
  });

  it('never takes all that a tenant has: the next agent still has room', () => {
    const shares = new FairShares({ ...LIMITS, agent: 1000, way: 10_000 });
    expect(takeAll(shares, accountOf('one', 'a'))).toBe(16);
    for (let n = 0; n < 3; n++)
      expect(takeAll(shares, accountOf('one', `b${n}`))).toBeGreaterThan(0);
  });

  it('never takes all connections of a server: the next tenant still has room', () => {
    const shares = new FairShares({ ...LIMITS, agent: 1000, tenant: 1000 });
    for (let n = 0; n < 20; n++) {
      expect(takeAll(shares, accountOf(`tenant ${n}`, 'a'))).toBeGreaterThanOrEqual(1);
      takeAll(shares, accountOf(`tenant ${n}`, 'b'));
    }
    expect(takeAll(shares, accountOf('two', 'b'))).toBeGreaterThanOrEqual(1);
  });

  it('says beforehand what it would refuse at once', async () => {
    const shares = new FairShares({ ...LIMITS, agent: 2 });
    const account = accountOf('one', 'a');
    const elsewhere = shareAccount('one', 'b', 'http://other');
    takeAll(shares, account);
    expect(shares.refuses(account)).toBe(false);
    const waits = [shares.take(account), shares.take(account)];
    expect(shares.refuses(account)).toBe(true);
    await expect(shares.take(account)).rejects.toThrow('Busy');
    expect(shares.refuses(elsewhere)).toBe(false);
    await Promise.allSettled(waits);
    expect(shares.refuses(account)).toBe(false);
  });

  it('always keeps within every bound, and is nothing once all has ended', () => {
    const step = fc.record({
      tenant: fc.constantFrom('one', 'two', 'three'),
      agent: fc.constantFrom('a', 'b'),
      gives: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const shares = new FairShares({ agent: 5, tenant: 7, way: 9, waitMs: 1 });
        const held: ShareAccount[] = [];
        for (const { tenant, agent, gives } of steps) {
          const account = accountOf(tenant, agent);
          if (!gives) {
            if (shares.tryTake(account)) held.push(account);
          } else {
            const at = held.findIndex(({ key }) => key === account.key);
            const [ended] = at < 0 ? [] : held.splice(at, 1);
            if (ended) shares.give(ended);
          }
          const ofTenant = held.filter((one) => one.tenant === account.tenant);
          expect(held.length).toBeLessThanOrEqual(9 + 3 * 4);
          expect(ofTenant.length).toBeLessThanOrEqual(7);
          expect(ofTenant.filter(({ key }) => key === account.key).length).toBeLessThanOrEqual(5);
        }
        for (const account of held) shares.give(account);
        expect(takeAll(shares, accountOf('one', 'a'))).toBe(
          takeAll(
            new FairShares({ agent: 5, tenant: 7, way: 9, waitMs: 1 }),
            accountOf('one', 'a'),
          ),
        );
      }),
    );
  });
});

describe('what finds no room', () => {
  const full = () => {
    const shares = new FairShares(LIMITS);
    const account = accountOf('one', 'a');
    takeAll(shares, account);
    return { shares, account };
  };

  it('waits for it, and goes in turn', async () => {
    const { shares, account } = full();
    const done: number[] = [];
    const waiting = [1, 2].map((n) => shares.take(account)?.then(() => done.push(n)));
    shares.give(account);
    await waiting[0];
    expect(done).toEqual([1]);
    shares.give(account);
    await waiting[1];
    expect(done).toEqual([1, 2]);
  });

  it('is refused as busy after a moment, and at once where too many wait', async () => {
    const { shares, account } = full();
    const waiting = Array.from({ length: 9 }, () => shares.take(account));
    await expect(waiting[8]).rejects.toMatchObject({ kind: 'busy' });
    const refused = await Promise.allSettled(waiting);
    expect(refused.every(({ status }) => status === 'rejected')).toBe(true);
    await expect(shares.take(account)).rejects.toThrow(/^Busy: this agent has 8 requests/);
  });

  it('leaves when it is cancelled', async () => {
    const { shares, account } = full();
    const cancellation = new Cancellation();
    const waiting = shares.take(account, cancellation);
    cancellation.cancel();
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled' });
    shares.give(account);
    expect(shares.tryTake(account)).toBe(true);
  });
});
