import { expect, it } from 'vitest';
import { OpenedParts, openParts } from './opened-parts.ts';

it('closes in reverse order, each even where another cannot be closed', async () => {
  const closed: string[] = [];
  const parts = new OpenedParts();
  parts.add(() => closed.push('first'));
  parts.add(async () => {
    throw new Error('second');
  });
  parts.add(() => closed.push('third'));
  await expect(parts.close()).rejects.toThrow('second');
  expect(closed).toEqual(['third', 'first']);
  await parts.close();
  expect(closed).toHaveLength(2);
});

it('closes what was opened when a later part fails, and throws the error of that', async () => {
  const closed: string[] = [];
  const unclosed: unknown[] = [];
  const opened = openParts(
    async (parts) => {
      parts.add(() => closed.push('first'));
      parts.add(() => {
        throw new Error('cannot be closed');
      });
      throw new Error('cannot be opened');
    },
    (error) => unclosed.push(error),
  );
  await expect(opened).rejects.toThrow('cannot be opened');
  expect(closed).toEqual(['first']);
  expect(unclosed).toEqual([new Error('cannot be closed')]);
});

it('leaves open what was opened without a failure', async () => {
  const closed: string[] = [];
  const parts = await openParts(
    async (parts) => {
      parts.add(() => closed.push('part'));
      return parts;
    },
    () => undefined,
  );
  expect(closed).toEqual([]);
  await parts.close();
  expect(closed).toEqual(['part']);
});
