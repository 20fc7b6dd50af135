import { expect, it } from 'vitest';
import { inTurn } from './in-turn.ts';

it('gives each its turn, one at a time, and throws the first error after the last', async () => {
  const seen: string[] = [];
  const work = async (item: string) => {
    seen.push(`${item} begins`);
    await Promise.resolve();
    if (item !== 'b') throw new Error(item);
    seen.push(`${item} ends`);
  };
  const all = inTurn(['a', 'b', 'c'], new AbortController().signal, work);
  await expect(all).rejects.toThrow('a');
  expect(seen).toEqual(['a begins', 'b begins', 'b ends', 'c begins']);
});

it('begins nothing more once it is aborted', async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  const work = async (item: string) => {
    seen.push(item);
    stop.abort();
    throw new Error('its end');
  };
  await inTurn(['a', 'b'], stop.signal, work);
  expect(seen).toEqual(['a']);
});
