import { expect, it } from 'vitest';
import { createSlots } from './slots.ts';

const LIMITS = { busy: 'busy', total: 3, perTenant: 2, waiting: 2, waitMs: 60_000 };
const never = new AbortController().signal;
const UNAVAILABLE = { code: 'UNAVAILABLE' };

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const waiting = Symbol('waiting');
  return (await Promise.race([promise, new Promise((r) => setImmediate(r, waiting))])) !== waiting;
}

it('gives a tenant its share, and the rest to others', async () => {
  const slots = createSlots(LIMITS);
  const release = await slots.take('a', never);
  await slots.take('a', never);
  const third = slots.take('a', never);
  expect(await isSettled(third)).toBe(false);
  await slots.take('b', never);
  const other = slots.take('c', never);
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
  await slots.take('a', never);
  const release = await slots.take('b', never);
  const waiting = slots.take('a', never);
  const other = slots.take('c', never);
  release();
  expect(await isSettled(other)).toBe(true);
  expect(await isSettled(waiting)).toBe(false);
});

it('refuses when too many wait', async () => {
  const slots = createSlots({ ...LIMITS, total: 1, waiting: 1 });
  await slots.take('a', never);
  void slots.take('b', never);
  await expect(slots.take('c', never)).rejects.toMatchObject(UNAVAILABLE);
});

it('refuses one of whose tenant too many wait, and lets those of others wait', async () => {
  const slots = createSlots({ ...LIMITS, total: 1, waiting: 9, waitingOfTenant: 2 });
  const release = await slots.take('a', never);
  void slots.take('a', never);
  const second = slots.take('a', never);
  await expect(slots.take('a', never)).rejects.toMatchObject(UNAVAILABLE);
  const other = slots.take('b', never);
  expect(await isSettled(other)).toBe(false);
  release();
  expect(await isSettled(slots.take('a', never))).toBe(false);
  expect(await isSettled(second)).toBe(false);
});

it('refuses who has waited too long, and forgets who has gone', async () => {
  const slots = createSlots({ ...LIMITS, total: 1, waitMs: 10 });
  const release = await slots.take('a', never);
  const gone = new AbortController();
  const left = slots.take('b', gone.signal);
  gone.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  await expect(slots.take('b', gone.signal)).rejects.toThrow('gone');
  await expect(slots.take('c', never)).rejects.toMatchObject(UNAVAILABLE);
  release();
  expect(await isSettled(slots.take('d', never))).toBe(true);
});
