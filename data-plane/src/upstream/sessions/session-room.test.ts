import { beforeEach, describe, expect, it } from 'vitest';
import { createSessionLimits, type SessionOwner } from './session-limits.ts';
import { createSessionRoom, type RoomEntry } from './session-room.ts';

let entries: Map<string, RoomEntry>;
let retired: Map<RoomEntry, unknown>;
let now: number;
let isSeveral: boolean;
let listened: Set<string>;
let withSession: Set<string>;
let makeRoom: (newcomer: SessionOwner) => void;

beforeEach(() => {
  entries = new Map();
  retired = new Map();
  now = 1_000_000;
  isSeveral = false;
  listened = new Set();
  withSession = new Set();
  const numbers = { maxSessions: 3, maxProcesses: 4, maxOwnProcesses: 2 };
  makeRoom = createSessionRoom({
    limitsOf: createSessionLimits(numbers, () => isSeveral),
    entries,
    retired,
    isListenedTo: ({ agentId }) => listened.has(agentId),
    hasSession: ({ agentId }) => withSession.has(agentId),
    drop: (key) => void entries.delete(key),
    now: () => now,
  });
});

let count = 0;
function add(over: Partial<RoomEntry> = {}): string {
  const entry: RoomEntry = {
    tenantId: 't',
    agentId: `agent-${count}`,
    serverId: 's',
    transport: 'stdio',
    peerId: undefined,
    isKept: false,
    isAway: () => false,
    session: { pending: 0 },
    usedAt: now - 3_600_000 + count,
    ...over,
  };
  const key = `entry-${count++}`;
  makeRoom(entry);
  entries.set(key, entry);
  return key;
}
const left = () => [...entries.keys()];

describe('room for one more process', () => {
  it('is made by evicting the one that is idle the longest, of those not in use', () => {
    const idle = add();
    const keys = [
      add({ session: { pending: 1 } }),
      add({ usedAt: now - 59_000 }),
      add({ isKept: true, peerId: 'p' }),
    ];
    const more = add({ usedAt: now });
    expect(left()).toEqual([...keys, more]);
    expect(entries.has(idle)).toBe(false);
    expect(() => add()).toThrow('Busy: all processes of stdio MCP servers');
    // What is listened to, and what a session of the agent goes on with, is in use too.
    now += 120_000;
    listened.add(entries.get(more)?.agentId ?? '');
    withSession.add(entries.get(keys[1] ?? '')?.agentId ?? '');
    expect(() => add()).toThrow('Busy');
    withSession.clear();
    expect(() => add()).not.toThrow();
  });

  it('is made by clients that have left, at once, and by no other', () => {
    const own = { agentId: 'a', isKept: true, usedAt: now };
    const gone = add({ ...own, peerId: '1', isAway: () => true });
    const there = add({ ...own, peerId: '2' });
    const next = add({ ...own, peerId: '3' });
    expect([entries.has(gone), entries.has(there), entries.has(next)]).toEqual([false, true, true]);
    expect(() => add({ ...own, peerId: '4' })).toThrow('Busy');
  });

  it('is not taken by the clients of one agent, or by one tenant of several', () => {
    const own = { agentId: 'a', isKept: true };
    add({ ...own, peerId: '1' });
    add({ ...own, peerId: '2' });
    expect(() => add({ ...own, peerId: '3' })).toThrow('SERVICE_UPSTREAM_MAX_PROCESSES_PER_AGENT');
    isSeveral = true;
    expect(() => add()).toThrow('Busy: half of the processes');
    expect(add({ tenantId: 'other' })).toBeDefined();
  });

  it("counts what clients share that can be asked nothing as their agent's, while one is there", () => {
    const shared = { agentId: 'a', isShared: true };
    const keys = ['1', '2', '3', '4'].map((peerId) => add({ ...shared, peerId }));
    expect(left()).toEqual(keys);
    withSession.add('a');
    expect(() => add()).toThrow('Busy: all processes of stdio MCP servers');
    withSession.clear();
    expect(() => add()).not.toThrow();
  });

  it('counts those that end with a call under way', () => {
    const entry = { ...(entries.get(add()) as RoomEntry), session: { pending: 1 } };
    for (let n = 0; n < 4; n++) retired.set({ ...entry }, null);
    entries.clear();
    expect(() => add()).toThrow('Busy');
    for (const one of retired.keys()) Object.assign(one, { session: { pending: 0 } });
    expect(() => add()).not.toThrow();
  });
});

it('over HTTP is made by what is idle the longest', () => {
  const http = { transport: 'streamable-http', isKept: true } as const;
  const first = add({ ...http, peerId: '1' });
  for (let n = 2; n < 6; n++) add({ ...http, peerId: String(n) });
  expect(entries.size).toBe(3);
  expect(entries.has(first)).toBe(false);
});
