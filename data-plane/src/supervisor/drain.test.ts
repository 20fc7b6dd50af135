import type { RegistrationAnswer } from '@governance/shared/channel/channels';
import { expect, it, vi } from 'vitest';
import type { ShipperState } from '../sync/shipping/shipping-status.ts';
import { drain } from './drain.ts';

interface Tenant {
  tenant_id: string;
  shipper: { state: ShipperState; backlog: number; stop: { at: string } | null };
}

function folder(registered: string[]) {
  const tenants: Tenant[] = [];
  const roots: { state: string }[] = [{ state: 'registering' }];
  const ending = new AbortController();
  type Core = Parameters<typeof drain>[0];
  const core = {
    identity: {
      listRegistrations: () => registered.map((tenant_id) => ({ tenant_id }) as RegistrationAnswer),
    },
    // Draining reads only the shipper's state of a tenant's status.
    status: () => ({ tenants }),
  } as unknown as Core;
  const outcome = drain(core, { status: () => roots }, ending.signal);
  let known: string | undefined;
  void outcome.then((value) => (known = value));
  return { tenants, roots, ending, outcome, known: () => known };
}

const shipper = (state: ShipperState, backlog: number) => ({
  state,
  backlog,
  stop: state === 'forked' ? { at: '2026-01-01T00:00:00.000Z' } : null,
});

it('ends when every tenant that was ever served has shipped everything', async () => {
  vi.useFakeTimers();
  const { tenants, roots, known } = folder(['a', 'b']);
  const pass = () => vi.advanceTimersByTimeAsync(500);
  await pass();
  tenants.push({ tenant_id: 'a', shipper: shipper('idle', 0) });
  await pass();
  expect(known()).toBeUndefined();
  const b = { tenant_id: 'b', shipper: shipper('retrying', 3) };
  tenants.push(b);
  roots[0] = { state: 'registered' };
  await pass();
  // The batch is in flight; only idle and empty counts.
  b.shipper = shipper('shipping', 0);
  await pass();
  expect(known()).toBeUndefined();
  b.shipper = shipper('idle', 0);
  await pass();
  expect(known()).toBe('drained');
  vi.useRealTimers();
});

it('gives up on a stream that ended, and on a tenant without a token', async () => {
  vi.useFakeTimers();
  const forked = folder(['a']);
  forked.tenants.push({ tenant_id: 'a', shipper: shipper('forked', 3) });
  const orphan = folder(['a']);
  await vi.advanceTimersByTimeAsync(500);
  expect(forked.known()).toBe('stuck');
  expect(orphan.known()).toBeUndefined();
  orphan.roots[0] = { state: 'refused' };
  await vi.advanceTimersByTimeAsync(500);
  expect(orphan.known()).toBe('stuck');
  vi.useRealTimers();
});

it('has nothing to do in a folder that never registered, and stops on request', async () => {
  expect(await folder([]).outcome).toBe('drained');
  const { ending, outcome } = folder(['a']);
  ending.abort();
  expect(await outcome).toBe('stopped');
});
