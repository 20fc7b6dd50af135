import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSlots, type Slots } from './slots.ts';

const LIMITS = { busy: 'busy', total: 3, perTenant: 2, waiting: 2, waitMs: 60_000 };
const UNAVAILABLE = { code: 'UNAVAILABLE' };

// Who still waits at a test's end leaves: its refusal would come while other tests run.
let over: AbortController;
beforeEach(() => {
  over = new AbortController();
});
afterEach(() => over.abort());

function take(slots: Slots, tenantId: string): Promise<() => void> {
  const taken = slots.take(tenantId, over.signal);
  taken.catch(() => undefined);
  return taken;
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const waiting = Symbol('waiting');
  return (await Promise.race([promise, new Promise((r) => setImmediate(r, waiting))])) !== waiting;
}

it('gives a tenant its share, and the rest to others', async () => {
  const slots = createSlots(LIMITS);
  const release = await take(slots, 'a');
  await take(slots, 'a');
  const third = take(slots, 'a');
  expect(await isSettled(third)).toBe(false);
  await take(slots, 'b');
  const other = take(slots, 'c');
  expect(await isSettled(other)).toBe(false);
  // The first in the queue that its tenant's share allows.
  release();
  release();
  expect(await isSettled(third)).toBe(true);
  expect(await isSettled(other)).toBe(false);
  (await third)();
  expect(await isSettled(other)).toBe(true);
});

it('passes by whose tenant has its share', async () => {
  const slots = createSlots({ ...LIMITS, total: 2, perTenant: 1 });
  await take(slots, 'a');
  const release = await take(slots, 'b');
  const waiting = take(slots, 'a');
  const other = take(slots, 'c');
  release();
  expect(await isSettled(other)).toBe(true);
  expect(await isSettled(waiting)).toBe(false);
});

it('refuses when too many wait', async () => {
  const slots = createSlots({ ...LIMITS, total: 1, waiting: 1 });
  await take(slots, 'a');
  take(slots, 'b');
  await expect(take(slots, 'c')).rejects.toMatchObject(UNAVAILABLE);
});

it('refuses one of whose tenant too many wait, and lets those of others wait', async () => {
  const slots = createSlots({ ...LIMITS, total: 1, waiting: 9, waitingOfTenant: 2 });
  const release = await take(slots, 'a');
  take(slots, 'a');
  const second = take(slots, 'a');
  await expect(take(slots, 'a')).rejects.toMatchObject(UNAVAILABLE);
  const other = take(slots, 'b');
  expect(await isSettled(other)).toBe(false);
  release();
  expect(await isSettled(take(slots, 'a'))).toBe(false);
  expect(await isSettled(second)).toBe(false);
});

it('refuses who has waited too long, and forgets who has gone', async () => {
  const slots = createSlots({ ...LIMITS, total: 1, waitMs: 10 });
  const release = await take(slots, 'a');
  const gone = new AbortController();
  const left = slots.take('b', gone.signal);
  gone.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  await expect(slots.take('b', gone.signal)).rejects.toThrow('gone');
  await expect(take(slots, 'c')).rejects.toMatchObject(UNAVAILABLE);
  release();
  expect(await isSettled(take(slots, 'd'))).toBe(true);
});
