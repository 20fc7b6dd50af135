import { expect, it } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const anybody = () => true;

it('takes in turn by tenant, and within a tenant by agent', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3']) queue.add({ tenantId: 't', agentId: 'a' }, item);
  queue.add({ tenantId: 't', agentId: 'b' }, 'b1');
  queue.add({ tenantId: 'u', agentId: 'c' }, 'c1');
  expect(queue.countOf('t')).toBe(4);
  const taken = Array.from({ length: 6 }, () => queue.take(anybody));
  expect(taken).toEqual(['a1', 'c1', 'b1', 'a2', 'a3', undefined]);
  expect(queue.countOf('t')).toBe(0);
});

it('skips a tenant that cannot run now, and forgets those that left', () => {
  const queue = new FairQueue<string>();
  const owner = { tenantId: 't', agentId: 'a' };
  queue.add(owner, 'gone');
  queue.add(owner, 'kept');
  queue.delete(owner, 'gone');
  expect(queue.take((tenantId) => tenantId !== 't')).toBeUndefined();
  expect(queue.take(anybody)).toBe('kept');
});
