/** What clients do not read is shared out among all; gateway/limits/ shows it with real clients. */
import { describe, expect, it } from 'vitest';
import { createUnreadAnswers } from './unread-answers.ts';

const KIB = 1024;
const MAX = 1024 * KIB;

function unreadOf(servesSeveral = true) {
  return createUnreadAnswers({
    maxBytes: MAX,
    maxBytesOfAll: MAX,
    servesSeveral: () => servesSeveral,
    stallMs: 1000,
    elapsed: () => 0,
  });
}

/** Leaves unread what an agent may. */
function fill(unread: ReturnType<typeof unreadOf>, tenantId: string, agent: string): number {
  const outlet = unread.outletOf({ tenantId, key: `${tenantId} ${agent}` });
  let held = 0;
  for (; outlet.hasRoom(20 * KIB); held += 20 * KIB) outlet.hold(20 * KIB);
  return held;
}

describe('what all agents leave unread', () => {
  it('is bounded, however many they are, and another tenant has room', () => {
    const unread = unreadOf();
    for (let n = 0; n < 100; n++) fill(unread, 'one', `${n}`);
    expect(unread.bytes()).toBeLessThanOrEqual(MAX / 2);
    expect(fill(unread, 'two', 'a')).toBeGreaterThan(MAX / 16);
    unread.stop();
  });

  it('leaves an agent of the same tenant room, and small answers to all who read', () => {
    const unread = unreadOf(false);
    expect(fill(unread, 'one', 'a')).toBeLessThanOrEqual(MAX / 2);
    expect(fill(unread, 'one', 'b')).toBeGreaterThan(MAX / 8);
    for (let n = 0; n < 100; n++) fill(unread, 'one', `${n}`);
    const reader = unread.outletOf({ tenantId: 'one', key: 'one reader' });
    expect(reader.hasRoom(200 * KIB)).toBe(false);
    expect(reader.hasRoom(16 * KIB)).toBe(true);
    unread.stop();
  });
});
