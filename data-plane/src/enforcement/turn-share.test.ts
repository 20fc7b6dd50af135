import { expect, it } from 'vitest';
import { TurnShare } from './turn-share.ts';

const burn = (ms: number) => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

it('does at once what fits into the turn, and the rest while others are served', async () => {
  const share = new TurnShare(5);
  expect(share.take(() => 'first')).toBe('first');
  let turns = 0;
  let isDone = false;
  const count = () => {
    if (isDone) return;
    turns++;
    setImmediate(count);
  };
  setImmediate(count);
  const order: number[] = [];
  const work = Array.from({ length: 20 }, (_, i) =>
    share.take(() => {
      burn(2);
      order.push(i);
    }),
  );
  expect(order.length).toBeLessThanOrEqual(3);
  await Promise.all(work);
  isDone = true;
  expect(order).toHaveLength(20);
  // At most three fit into a turn.
  expect(turns).toBeGreaterThanOrEqual(6);
});

it('rejects where the work throws later, and throws where it throws now', async () => {
  const share = new TurnShare(1);
  const fail = () => {
    burn(2);
    throw new Error('failed');
  };
  expect(() => share.take(fail)).toThrow('failed');
  await expect(share.take(fail)).rejects.toThrow('failed');
});
