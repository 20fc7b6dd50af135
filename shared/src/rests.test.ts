import { expect, it } from 'vitest';
import { createRests } from './rests.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('begins a piece at once, and the next when the one before is done', async () => {
  const inTurn = createRests(() => 0);
  const done: string[] = [];
  inTurn(() => done.push('a'));
  inTurn(() => done.push('b'));
  expect(done).toEqual(['a']);
  await turn();
  expect(done).toEqual(['a', 'b']);
  await turn();
  inTurn(() => done.push('c'));
  expect(done).toEqual(['a', 'b', 'c']);
});

it('rests for as long as the piece took with what followed it, and no longer than 100 ms', async () => {
  let now = 0;
  const inTurn = createRests(() => now);
  const done: string[] = [];
  inTurn(() => {
    done.push('a');
    // What awaits the answer.
    void Promise.resolve().then(() => {
      now += 60_000;
    });
  });
  const second = new Promise<void>((resolve) =>
    inTurn(() => {
      done.push('b');
      resolve();
    }),
  );
  await turn();
  await turn();
  expect(done).toEqual(['a']);
  await second;
  expect(done).toEqual(['a', 'b']);
});
