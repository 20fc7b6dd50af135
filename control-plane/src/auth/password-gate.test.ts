import { AppError } from '@governance/shared/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPasswordGate } from './password-gate.ts';

/** A gate whose work ends when the test says so. */
function aGate(limits: { running: number; waiting: number }) {
  const gate = createPasswordGate(limits);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const refused: string[] = [];
  const ask = (name: string, place: string, isFresh: boolean) => {
    const work = () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    return gate.run({ place, isFresh }, work).catch((error: unknown) => {
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ code: 'RATE_LIMITED' });
      refused.push(name);
    });
  };
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const endOne = async () => {
    ends.shift()?.();
    await settle();
  };
  return { ask, begun, refused, endOne, settle };
}

describe('the gate of passwords', () => {
  it('runs at most its limit at once, and all of them eventually', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ place: fc.constantFrom('a', 'b', 'c'), isFresh: fc.boolean() }), {
          maxLength: 30,
        }),
        fc.integer({ min: 1, max: 3 }),
        async (attempts, running) => {
          const gate = createPasswordGate({ running, waiting: 30 });
          let now = 0;
          let most = 0;
          const work = async () => {
            most = Math.max(most, ++now);
            await new Promise<void>((resolve) => setImmediate(resolve));
            now--;
          };
          const all = attempts.map(({ place, isFresh }) => gate.run({ place, isFresh }, work));
          await Promise.all(all);
          expect(most).toBeLessThanOrEqual(running);
        },
      ),
    );
  });

  it('takes one from a fresh address before a hundred from others', async () => {
    const { ask, begun, endOne, settle } = aGate({ running: 1, waiting: 200 });
    for (let i = 0; i < 100; i++) void ask(`guess ${i}`, `place ${i % 7}`, false);
    await settle();
    void ask('administrator', 'elsewhere', true);
    for (let i = 0; i < 4; i++) await endOne();
    expect(begun).toContain('administrator');
  });

  it('serves addresses in turns, however many requests each has waiting', async () => {
    const { ask, begun, endOne, settle } = aGate({ running: 1, waiting: 200 });
    for (let i = 0; i < 50; i++) void ask(`loud ${i}`, 'loud', false);
    void ask('quiet', 'quiet', false);
    await settle();
    for (let i = 0; i < 2; i++) await endOne();
    expect(begun).toContain('quiet');
  });

  it('lets those that failed before get on while fresh ones keep coming', async () => {
    const { ask, begun, endOne, settle } = aGate({ running: 1, waiting: 200 });
    for (let i = 0; i < 20; i++) void ask(`fresh ${i}`, `place ${i}`, true);
    void ask('mistyped', 'office', false);
    await settle();
    for (let i = 0; i < 5; i++) await endOne();
    expect(begun).toContain('mistyped');
  });

  it('when it is full, the address with most waiting gives way', async () => {
    const { ask, begun, refused, endOne, settle } = aGate({ running: 1, waiting: 10 });
    for (let i = 0; i < 30; i++) void ask(`loud ${i}`, 'loud', false);
    await settle();
    expect(refused).toHaveLength(19);
    void ask('quiet', 'quiet', false);
    void ask('fresh', 'fresh', true);
    await settle();
    expect(refused).toHaveLength(21);
    expect(refused.every((name) => name.startsWith('loud'))).toBe(true);
    for (let i = 0; i < 11; i++) await endOne();
    expect(begun).toEqual(expect.arrayContaining(['quiet', 'fresh']));
  });

  it('continues after work that throws', async () => {
    const gate = createPasswordGate({ running: 1, waiting: 1 });
    await expect(
      gate.run({ place: 'a', isFresh: true }, async () => {
        throw new Error('no database');
      }),
    ).rejects.toThrow('no database');
    expect(await gate.run({ place: 'a', isFresh: true }, async () => 1)).toBe(1);
  });
});
