import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BodiesBusyError, createBodyTurns, SMALL_BODY_BYTES } from './body-turns.ts';

const LARGE = SMALL_BODY_BYTES + 1;
const MIB = 1024 * 1024;
const one = { tenantId: 't', callerId: 'a' };

/** Waits until what is scheduled now, and what that schedules, has run. */
const loopTurn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

describe('large bodies', () => {
  it('are read one a turn of the event loop, by tenants and their callers in turn', async () => {
    // A clock that stands still: no turn takes any time.
    const turns = createBodyTurns(() => 0);
    const order: string[] = [];
    const read = async (tenantId: string, callerId: string) => {
      await turns.take({ tenantId, callerId }, LARGE);
      order.push(callerId);
    };
    const all = [
      ...Array.from({ length: 4 }, () => read('t', 'a')),
      read('t', 'b'),
      read('t', 'b'),
      read('u', 'c'),
      read('u', 'c'),
    ];
    // Before any turn of the loop, the first alone.
    await Promise.resolve();
    await Promise.resolve();
    expect(order).toEqual(['a']);
    await Promise.all(all);
    expect(order).toEqual(['a', 'a', 'c', 'b', 'c', 'a', 'b', 'a']);
  });

  it('rest for as long as the one before took, so that half of the time is for others', async () => {
    let now = 0;
    const turns = createBodyTurns(() => now);
    expect(turns.take(one, LARGE)).toBeUndefined();
    const began = performance.now();
    const second = turns.take(one, LARGE);
    // Reading the first.
    now += 40;
    let others = 0;
    const timer = setInterval(() => others++, 1);
    await second;
    clearInterval(timer);
    // A timer may fire a millisecond early.
    expect(performance.now() - began).toBeGreaterThanOrEqual(39);
    expect(others).toBeGreaterThan(0);
  });

  it('do not make small ones wait', () => {
    const turns = createBodyTurns();
    expect(turns.take(one, LARGE)).toBeUndefined();
    expect(turns.take(one, LARGE)).toBeInstanceOf(Promise);
    expect(turns.take(one, SMALL_BODY_BYTES)).toBeUndefined();
  });

  it('are refused as busy beyond what a caller and a tenant may have waiting', async () => {
    const turns = createBodyTurns(() => 0);
    turns.take(one, LARGE);
    const waiting: (Promise<void> | undefined)[] = [];
    for (let i = 0; i < 16; i++) waiting.push(turns.take(one, 4 * MIB));
    await expect(turns.take(one, LARGE)).rejects.toBeInstanceOf(BodiesBusyError);
    for (let i = 0; i < 48; i++) {
      waiting.push(turns.take({ tenantId: 't', callerId: `b${i % 3}` }, 4 * MIB));
    }
    await expect(turns.take({ tenantId: 't', callerId: 'c' }, LARGE)).rejects.toThrow('Busy');
    waiting.push(turns.take({ tenantId: 'u', callerId: 'c' }, LARGE));
    await Promise.all(waiting);
    // All had their turns, and nothing is held any more.
    await sleep(5);
    await loopTurn();
    expect(turns.take(one, LARGE)).toBeUndefined();
  });
});
