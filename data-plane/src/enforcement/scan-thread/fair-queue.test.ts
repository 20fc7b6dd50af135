import { expect, it } from 'vitest';
import { FairQueue, type Lane, type Place } from './fair-queue.ts';

const anybody = () => true;
const placeOf = (agentId: string, lane: Lane = 'call', tenantId = 't'): Place => ({
  tenantId,
  agentId,
  lane,
});
const takeAll = (queue: FairQueue<string>) => {
  const taken: string[] = [];
  for (let item = queue.take(anybody); item; item = queue.take(anybody)) taken.push(item);
  return taken;
};

it('takes in turn by tenant, and within a tenant by agent', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3']) queue.add(placeOf('a'), item);
  queue.add(placeOf('b'), 'b1');
  queue.add(placeOf('c', 'call', 'u'), 'c1');
  expect(takeAll(queue)).toEqual(['a1', 'c1', 'b1', 'a2', 'a3']);
});

it('takes in turn by lane: neither calls nor answers delay the others, whoever has them', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3']) queue.add(placeOf('a'), item);
  queue.add(placeOf('b'), 'b1');
  for (const item of ['A1', 'A2']) queue.add(placeOf('a', 'answer'), item);
  expect(takeAll(queue)).toEqual(['a1', 'A1', 'b1', 'A2', 'a2', 'a3']);
  // Of two lanes, the one that comes back waits for the turn of the other.
  queue.add(placeOf('a'), 'a1');
  queue.add(placeOf('a', 'answer'), 'A1');
  expect(queue.take(anybody)).toBe('a1');
  queue.add(placeOf('a'), 'a2');
  expect(queue.take(anybody)).toBe('A1');
});

it('an agent takes no more places than it leaves free, and each next one still has one', () => {
  const queue = new FairQueue<string>();
  const fill = (place: Place) => {
    let count = 0;
    for (; queue.hasRoom(place, 8); count++) queue.add(place, `${place.agentId}${count}`);
    return count;
  };
  expect(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => fill(placeOf(id)))).toEqual([4, 2, 1, 1, 1, 1]);
  expect(fill(placeOf('a', 'answer'))).toBe(4);
  expect(fill(placeOf('a', 'call', 'u'))).toBe(4);
  takeAll(queue);
  expect(fill(placeOf('a'))).toBe(4);
});

it('skips a tenant that cannot run now, and forgets those that left', () => {
  const queue = new FairQueue<string>();
  queue.add(placeOf('a'), 'gone');
  queue.add(placeOf('a'), 'kept');
  queue.delete(placeOf('a'), 'gone');
  expect(queue.take((tenantId) => tenantId !== 't')).toBeUndefined();
  expect(queue.take(anybody)).toBe('kept');
});
