import { expect, it } from 'vitest';
import { createKeyedMutex } from './keyed-mutex.ts';

it('runs work one after the other for a key, whatever becomes of it', async () => {
  const mutex = createKeyedMutex();
  const log: string[] = [];
  const work =
    (name: string, fail = false) =>
    async () => {
      log.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} ends`);
      if (fail) throw new Error(name);
      return name;
    };
  const first = mutex.run('a', work('1', true));
  const second = mutex.run('a', work('2'));
  const other = mutex.run('b', work('3'));
  await expect(first).rejects.toThrow('1');
  expect(await second).toBe('2');
  expect(await other).toBe('3');
  expect(log.filter((entry) => !entry.startsWith('3'))).toEqual([
    '1 begins',
    '1 ends',
    '2 begins',
    '2 ends',
  ]);
  expect(log.indexOf('3 begins')).toBeLessThan(log.indexOf('2 begins'));
});
