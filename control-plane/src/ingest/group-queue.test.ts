import { describe, expect, it } from 'vitest';
import { createGroupQueue, type GroupItem, type GroupLimits } from './group-queue.ts';

interface Item extends GroupItem {
  name: string;
}

const item = (name: string, size: Partial<GroupItem> = {}): Item => ({
  name,
  stream: name,
  records: 1,
  bytes: 1,
  ...size,
});

function aQueue(limits: Partial<GroupLimits> = {}, fails?: (n: string) => boolean) {
  const groups: string[] = [];
  let running = 0;
  const all = { items: 4, records: 100, bytes: 1_000, ...limits };
  const add = createGroupQueue<Item, string>(all, async (tenantId, items) => {
    running += 1;
    const names = items.map(({ name }) => name);
    groups.push(`${tenantId}: ${names.join(' ')}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    if (names.some((name) => fails?.(name))) throw new Error(`failed: ${names.join(' ')}`);
    return names.map((name) => `stored ${name}`);
  });
  return { add, groups, running: () => running };
}

describe('createGroupQueue', () => {
  it('stores what waits together, in order, and answers each', async () => {
    const { add, groups } = aQueue();
    const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => add('t', item(name)));
    expect(await Promise.all(all)).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((n) => `stored ${n}`),
    );
    expect(groups).toEqual(['t: a', 't: b c d e', 't: f']);
    expect(await add('t', item('g'))).toBe('stored g');
  });

  it('keeps the batches of a stream in order, one a group', async () => {
    const { add, groups } = aQueue();
    const names = [item('a1', { stream: 'a' }), item('a2', { stream: 'a' }), item('b')];
    await Promise.all([...names, item('a3', { stream: 'a' })].map((one) => add('t', one)));
    expect(groups).toEqual(['t: a1', 't: a2 b', 't: a3']);
  });

  it('bounds a group, but takes what is larger than a group alone', async () => {
    const { add, groups } = aQueue({ records: 10, bytes: 10 });
    const sizes: [string, Partial<GroupItem>][] = [
      ['first', {}],
      ['large', { records: 50 }],
      ['a', { records: 6 }],
      ['b', { records: 6 }],
      ['c', { bytes: 9 }],
    ];
    await Promise.all(sizes.map(([name, size]) => add('t', item(name, size))));
    expect(groups).toEqual(['t: first', 't: large', 't: a c', 't: b']);
  });

  it('holds up no other tenant', async () => {
    const { add, running } = aQueue();
    const both = [add('t', item('a')), add('u', item('b'))];
    expect(running()).toBe(2);
    await Promise.all(both);
  });

  it('tries each alone where a group fails', async () => {
    const { add, groups } = aQueue({}, (name) => name === 'bad');
    const all = ['a', 'b', 'bad', 'c'].map((name) => add('t', item(name)));
    const results = await Promise.allSettled(all);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(groups).toEqual(['t: a', 't: b bad c', 't: b', 't: bad', 't: c']);
  });
});
