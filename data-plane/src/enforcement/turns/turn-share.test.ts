import { expect, it } from 'vitest';
import { TurnShare } from './turn-share.ts';

const burn = (ms: number) => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

it('has time until its share of the turn is spent, and again in the next turn', async () => {
  const share = new TurnShare(5);
  expect(share.hasTime).toBe(true);
  expect(share.spend(() => 'done')).toBe('done');
  share.spend(() => burn(6));
  expect(share.hasTime).toBe(false);
  await new Promise((resolve) => setImmediate(resolve));
  expect(share.hasTime).toBe(true);
});

it('counts work that throws', () => {
  const share = new TurnShare(5);
  const fail = () => {
    burn(6);
    throw new Error('failed');
  };
  expect(() => share.spend(fail)).toThrow('failed');
  expect(share.hasTime).toBe(false);
});
