import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTurnQueue } from './turn-queue.ts';

describe('createTurnQueue', () => {
  it('serves by turns, each in its own order', () => {
    const queue = createTurnQueue<string>({ max: 10, maxOfOne: 4 });
    for (const entry of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.put(entry[0] as string, entry);
    const served = Array.from({ length: 7 }, () => queue.take()?.entry);
    expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', undefined]);
  });

  it('always serves one of each that waits before a second of anybody', () => {
    const turns = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 });
    fc.assert(
      fc.property(turns, (entries) => {
        const queue = createTurnQueue<string>({ max: 40, maxOfOne: 40 });
        for (const turn of entries) expect(queue.put(turn, turn)).toBe(true);
        const who = new Set(entries);
        const first = Array.from({ length: who.size }, () => queue.take()?.entry);
        expect(new Set(first)).toEqual(who);
        expect([...first, ...queue.empty()].sort()).toEqual([...entries].sort());
        expect(queue.take()).toBeUndefined();
      }),
    );
  });

  it('leaves those that may not run where they are', () => {
    const queue = createTurnQueue<string>({ max: 10, maxOfOne: 4 });
    for (const entry of ['a1', 'b1', 'a2']) queue.put(entry[0] as string, entry);
    const mayGo = (turn: string) => turn !== 'a';
    expect(queue.take(mayGo)).toEqual({ turn: 'b', entry: 'b1' });
    expect(queue.take(mayGo)).toBeUndefined();
    expect(queue.turns()).toEqual(['a']);
    expect([queue.take()?.entry, queue.take()?.entry]).toEqual(['a1', 'a2']);
  });

  it('refuses what goes beyond one share, and has room for the others', () => {
    const queue = createTurnQueue<number>({ max: 5, maxOfOne: 2 });
    expect([1, 2, 3].map((entry) => queue.put('storm', entry))).toEqual([true, true, false]);
    expect([1, 2].map((entry) => queue.put('other', entry))).toEqual([true, true]);
    expect(queue.put('third', 1)).toBe(true);
    expect(queue.put('fourth', 1)).toBe(false);
    queue.take();
    expect(queue.put('fourth', 1)).toBe(true);
  });
});
