import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGatheredReads } from './gathered-reads.ts';

/** Gives each key's own text back, but for those that begin with `no`. */
function aRead() {
  const queries: string[][] = [];
  const read = async (keys: string[]) => {
    queries.push(keys);
    await sleep(1);
    if (keys.includes('bad')) throw new Error('no database');
    return new Map(keys.filter((key) => !key.startsWith('no')).map((key) => [key, `of ${key}`]));
  };
  return { queries, read };
}

describe('createGatheredReads', () => {
  it('asks once for all of one turn, and for each key once', async () => {
    const { queries, read } = aRead();
    const find = createGatheredReads({ read });
    const found = await Promise.all(['a', 'b', 'none', 'a'].map(find));
    expect(found).toEqual(['of a', 'of b', undefined, 'of a']);
    expect(queries).toEqual([['a', 'b', 'none']]);
  });

  it('asks in parts where there are many', async () => {
    const { queries, read } = aRead();
    const find = createGatheredReads({ read, most: 2 });
    expect(await Promise.all(['a', 'b', 'c'].map(find))).toEqual(['of a', 'of b', 'of c']);
    expect(queries).toEqual([['a', 'b'], ['c']]);
  });

  it('remembers nothing: who asks after a query began gets a newer one', async () => {
    let value = 'old';
    let answer = () => {};
    const begun: string[] = [];
    const find = createGatheredReads<string>({
      everyMs: 1,
      read: async (keys) => {
        const seen = value;
        begun.push(seen);
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return new Map(keys.map((key) => [key, seen]));
      },
    });
    const first = find('token');
    await expect.poll(() => begun).toEqual(['old']);
    value = 'revoked';
    const second = find('token');
    answer();
    expect(await first).toBe('old');
    // The first one hung for as long as it liked: the second did not wait for it.
    await expect.poll(() => begun).toEqual(['old', 'revoked']);
    answer();
    expect(await second).toBe('revoked');
  });

  it('tells a failure to those whose query failed', async () => {
    const { read } = aRead();
    const find = createGatheredReads({ read, most: 1 });
    const [bad, good] = await Promise.allSettled([find('bad'), find('good')]);
    expect(bad).toMatchObject({ status: 'rejected', reason: { message: 'no database' } });
    expect(good).toEqual({ status: 'fulfilled', value: 'of good' });
  });

  it('asks at most once in a while, however many ask', async () => {
    const { queries, read } = aRead();
    const find = createGatheredReads({ read, everyMs: 20 });
    const began = performance.now();
    const all: Promise<unknown>[] = [];
    for (let n = 0; performance.now() - began < 200; n++) {
      all.push(find(`key ${n}`), find(`other ${n}`));
      await sleep(0);
    }
    await Promise.all(all);
    const rounds = (performance.now() - began) / 20;
    expect(queries.length).toBeLessThanOrEqual(Math.ceil(rounds) + 1);
    expect(all.length).toBeGreaterThan(queries.length);
  });

  it('always gives each its own', async () => {
    const turn = fc.array(fc.string({ maxLength: 2 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { maxLength: 5 }),
        fc.integer({ min: 1, max: 4 }),
        async (turns, most) => {
          const { read } = aRead();
          const find = createGatheredReads({ read, most, everyMs: 1 });
          const asked: [string, Promise<string | undefined>][] = [];
          for (const keys of turns) {
            for (const key of keys) asked.push([key, find(key)]);
            await sleep(0);
          }
          for (const [key, found] of asked) {
            expect(await found).toBe(key.startsWith('no') ? undefined : `of ${key}`);
          }
        },
      ),
      { numRuns: 50 },
    );
  });
});
