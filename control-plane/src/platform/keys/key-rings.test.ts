import { expect, it } from 'vitest';
import { createKeyRings, REREAD_MS } from './key-rings.ts';
import type { KeyRing } from './opened-keys.ts';

/** Rings of which each read ends when the test says. */
function heldRings() {
  const reads: { end(ring: KeyRing): void; fail(error: Error): void }[] = [];
  const clock = { at: 0 };
  const rings = createKeyRings({
    read: () => new Promise((end, fail) => void reads.push({ end, fail })),
    elapsed: () => clock.at,
  });
  const ask = () => rings.of('bundle-signing');
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { reads, clock, rings, ask, settle };
}

const aRing = (): KeyRing => ({ keys: [], barred: [] });

it('callers share the read under way, and the next one tries again where it failed', async () => {
  const { reads, ask } = heldRings();
  const failed = Promise.allSettled([ask(), ask()]);
  expect(reads).toHaveLength(1);
  reads[0]?.fail(new Error('away'));
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const read = Promise.all([ask(), ask()]);
  expect(reads).toHaveLength(2);
  reads[1]?.end(aRing());
  const [one, other] = await read;
  expect(one).toBe(other);
  expect(await ask()).toBe(one);
  expect(reads).toHaveLength(2);
});

it('a read from before `forget` that ends does not let a second one begin', async () => {
  const { reads, rings, ask, settle } = heldRings();
  const before = ask();
  rings.forget();
  const after = [ask()];
  expect(reads).toHaveLength(2);
  reads[0]?.end(aRing());
  await before;
  await settle();
  after.push(ask());
  expect(reads).toHaveLength(2);
  reads[1]?.end(aRing());
  const [one, other] = await Promise.all(after);
  expect(one).toBe(other);
});

it('a read from before `forget` that fails does not keep older keys in use', async () => {
  const { reads, clock, rings, ask } = heldRings();
  const first = ask();
  reads[0]?.end(aRing());
  const old = await first;
  clock.at = REREAD_MS;
  const before = ask();
  rings.forget();
  reads[1]?.fail(new Error('away'));
  expect(await before).toBe(old);
  const after = ask();
  expect(reads).toHaveLength(3);
  reads[2]?.end(aRing());
  expect(await after).not.toBe(old);
});
