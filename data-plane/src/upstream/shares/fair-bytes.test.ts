import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerBytes } from './answer-room.ts';
import { type ByteOwner, FairBytes } from './fair-bytes.ts';

const MAX = 1024;
const ownerOf = (tenantId: string, agent: string): ByteOwner => ({
  tenantId,
  key: `${tenantId} ${agent}`,
});

/** Takes one byte after another until there is no more room. */
function takeAll(bytes: FairBytes, owner: ByteOwner): number {
  let taken = 0;
  for (; bytes.hasRoom(owner, 1); taken++) bytes.add(owner, 1);
  return taken;
}

describe('bytes that agents cause', () => {
  it('of a single tenant leave half to its other agents', () => {
    const bytes = new FairBytes(MAX, () => false);
    expect(takeAll(bytes, ownerOf('one', 'a'))).toBe(MAX / 2);
    expect(takeAll(bytes, ownerOf('one', 'b'))).toBe(MAX / 4);
  });

  it('of several tenants leave half to the others', () => {
    const bytes = new FairBytes(MAX, () => true);
    for (let n = 0; n < 20; n++) takeAll(bytes, ownerOf('one', `${n}`));
    expect(bytes.total).toBeLessThanOrEqual(MAX / 2);
    expect(takeAll(bytes, ownerOf('two', 'a'))).toBeGreaterThanOrEqual(MAX / 8);
  });

  it('of an agent without any may be one answer as large as its tenant has room for', () => {
    const bytes = new FairBytes(MAX, () => true);
    expect(bytes.hasRoom(ownerOf('one', 'a'), MAX / 2)).toBe(true);
    expect(bytes.hasRoom(ownerOf('one', 'a'), MAX / 2 + 1)).toBe(false);
  });

  it('never exceed the bound, leave every other tenant room, and are none once all has ended', () => {
    const step = fc.record({
      tenant: fc.constantFrom('one', 'two', 'three'),
      agent: fc.constantFrom('a', 'b'),
      bytes: fc.integer({ min: 1, max: 400 }),
      gives: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const bytes = new FairBytes(MAX, () => true);
        const held: { owner: ByteOwner; answer: AnswerBytes }[] = [];
        for (const { tenant, agent, bytes: wanted, gives } of steps) {
          const owner = ownerOf(tenant, agent);
          if (gives) held.shift()?.answer.release();
          else {
            const answer = new AnswerBytes(bytes, owner);
            if (answer.hold(wanted)) held.push({ owner, answer });
          }
          expect(bytes.total).toBeLessThanOrEqual(MAX);
          const free = MAX - bytes.total;
          expect(bytes.hasRoom(ownerOf('four', 'a'), Math.floor(free / 2))).toBe(true);
        }
        for (const { answer } of held) answer.release();
        expect(bytes.total).toBe(0);
      }),
    );
  });
});

describe('an answer', () => {
  it('counts as long as its call, and not behind its end', () => {
    const bytes = new FairBytes(MAX, () => false);
    const answer = new AnswerBytes(bytes, ownerOf('one', 'a'));
    expect([answer.hold(300), answer.hold(-100), answer.hold(900)]).toEqual([true, true, false]);
    expect(bytes.total).toBe(200);
    answer.release();
    answer.release();
    expect(answer.hold(50)).toBe(true);
    expect(bytes.total).toBe(0);
  });
});
