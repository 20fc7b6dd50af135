import { expect, it } from 'vitest';
import { createOpenPlaces } from './open-places.ts';

function fill(tenantId: string, places: ReturnType<typeof createOpenPlaces>): number {
  let taken = 0;
  for (; places.hasRoom(tenantId); taken++) places.take(tenantId);
  return taken;
}

it('gives one tenant everything, and of several none more than are left free', () => {
  expect(
    fill(
      'a',
      createOpenPlaces(8, () => false),
    ),
  ).toBe(8);
  const places = createOpenPlaces(8, () => true);
  expect(fill('a', places)).toBe(4);
  expect(fill('b', places)).toBe(2);
  expect(fill('c', places)).toBe(1);
  expect(places.hasRoom('a')).toBe(false);
  for (let left = 0; left < 4; left++) places.leave('a');
  expect(fill('b', places)).toBe(2);
});
