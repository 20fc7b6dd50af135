import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { readPaced } from './paced-pipe.ts';

it('stops reading for as long as the allowance of its pipe says', async () => {
  const spent: number[] = [];
  const allowance = {
    spend: (bytes: number) => {
      spent.push(bytes);
      return spent.length === 1 ? 100 : 0;
    },
    refill: () => undefined,
  };
  const taken: number[] = [];
  const pipe = Readable.from([Buffer.from('ab'), Buffer.from('c'), Buffer.from('d')]);
  const { signal } = new AbortController();
  await readPaced(pipe, () => taken.push(performance.now()), signal, allowance);
  expect(spent).toEqual([2, 1, 1]);
  const [first = 0, second = 0] = taken;
  expect(second - first).toBeGreaterThan(90);
});
