import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createChangeBus } from '../platform/database/change-bus.ts';
import { createSharedReads } from './shared-reads.ts';
import { createTenantListeners } from './tenant-listeners.ts';

const aBus = () =>
  createChangeBus((error) => {
    throw error;
  });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('a tenant listener', () => {
  it('hears changes of its own tenant, also one that came before it waited', async () => {
    const bus = aBus();
    const listeners = createTenantListeners(bus);
    const listener = listeners.listen({ tenantId: 'a' }, { waitMs: 1_000 });
    bus.publish({ tenantId: 'a', feedSeq: 1 });
    bus.publish({ tenantId: 'a', feedSeq: 2 });
    expect(await listener.next()).toBe(true);
    const next = listener.next();
    bus.publish({ tenantId: 'b', feedSeq: 1 });
    bus.publish({ tenantId: 'a', position: 1 });
    await vi.advanceTimersByTimeAsync(999);
    bus.publish({ tenantId: 'a', feedSeq: 3 });
    expect(await next).toBe(true);
    const last = listener.next();
    await vi.advanceTimersByTimeAsync(1);
    expect(await last).toBe(false);
    expect(await listener.next()).toBe(false);
    expect(listeners.count()).toBe(0);
  });

  it('ends where changes may have been missed, so that who waits looks once more', async () => {
    const bus = aBus();
    const reads = createSharedReads<string>(bus);
    const listeners = createTenantListeners(bus);
    const before = reads.version('a');
    const next = listeners.listen({ tenantId: 'a' }, { waitMs: 1_000 }).next();
    bus.announceMissed();
    expect(await next).toBe(false);
    expect(reads.version('a')).not.toBe(before);
    expect(listeners.count()).toBe(0);
  });

  it('ends when its signal aborts and when the service stops', async () => {
    const listeners = createTenantListeners(aBus());
    const abort = new AbortController();
    const gone = listeners.listen({ tenantId: 'a' }, { waitMs: 1_000, signal: abort.signal });
    const stopped = listeners.listen({ tenantId: 'a' }, { waitMs: 1_000 });
    const waits = [gone.next(), stopped.next()];
    abort.abort();
    expect(await waits[0]).toBe(false);
    listeners.close();
    expect(await waits[1]).toBe(false);
    const late = listeners.listen({ tenantId: 'a' }, { waitMs: 1_000 });
    expect(await late.next()).toBe(false);
    const aborted = listeners.listen({ tenantId: 'a' }, { waitMs: 1_000, signal: abort.signal });
    expect(await aborted.next()).toBe(false);
    expect(listeners.count()).toBe(0);
  });

  it('is refused when too many listen, unless it does not wait', async () => {
    const listeners = createTenantListeners(aBus(), { total: 1, perTenant: 1, perDeployment: 1 });
    const one = listeners.listen({ tenantId: 'a' }, { waitMs: 1_000 });
    expect(() => listeners.listen({ tenantId: 'b' }, { waitMs: 1 })).toThrow(
      expect.objectContaining({ code: 'UNAVAILABLE' }),
    );
    expect(await listeners.listen({ tenantId: 'b' }, { waitMs: 0 }).next()).toBe(false);
    one.end();
    listeners.listen({ tenantId: 'b' }, { waitMs: 1 }).end();
    expect(listeners.count()).toBe(0);
  });
});

describe('places to wait', () => {
  const waitMs = 1_000;
  const limits = { total: 6, perTenant: 3, perDeployment: 2 };
  const busy = expect.objectContaining({ code: 'UNAVAILABLE' });

  it('are left for other tenants, and for other deployments of one', () => {
    const listeners = createTenantListeners(aBus(), limits);
    const wait = (tenantId: string, deploymentId?: string) =>
      listeners.listen({ tenantId, deploymentId }, { waitMs });
    const held = [wait('a', 'a1'), wait('a', 'a1')];
    expect(() => wait('a', 'a1')).toThrow(busy);
    held.push(wait('a', 'a2'));
    // Of the tenant; what it was refused takes no place of its deployment.
    for (const deploymentId of ['a3', 'a3', 'a3', undefined]) {
      expect(() => wait('a', deploymentId)).toThrow(busy);
    }
    held.push(wait('b', 'a1'), wait('b'), wait('b'));
    expect(listeners.count()).toBe(6);
    expect(() => wait('c')).toThrow(busy);
    held[0]?.end();
    held[0]?.end();
    held.push(wait('a', 'a3'));
    for (const listener of held) listener.end();
    expect(listeners.count()).toBe(0);
    listeners.close();
  });
});

describe('shared reads', () => {
  it('are one for the same question, until the tenant changes', async () => {
    const bus = aBus();
    const reads = createSharedReads<string>(bus);
    const answers: ((value: string) => void)[] = [];
    const read = () => new Promise<string>((resolve) => answers.push(resolve));
    const first = [reads.read('a', 'k', read), reads.read('a', 'k', read)];
    const other = [reads.read('a', 'other', read), reads.read('b', 'k', read)];
    expect(answers).toHaveLength(3);
    bus.publish({ tenantId: 'a', feedSeq: 1 });
    const after = reads.read('a', 'k', read);
    expect(answers).toHaveLength(4);
    answers.forEach((answer, i) => void answer(`read ${i}`));
    expect(await Promise.all(first)).toEqual(['read 0', 'read 0']);
    expect(await Promise.all(other)).toEqual(['read 1', 'read 2']);
    expect(await after).toBe('read 3');
    expect(reads.version('a')).toBe(1);
    void reads.read('a', 'k', read);
    expect(answers).toHaveLength(5);
  });

  it('forget a read that failed', async () => {
    const reads = createSharedReads<string>(aBus());
    await expect(reads.read('a', 'k', () => Promise.reject(new Error('gone')))).rejects.toThrow();
    expect(await reads.read('a', 'k', async () => 'back')).toBe('back');
  });
});
