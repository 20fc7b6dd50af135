import type { ServerResponse } from 'node:http';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Cancellation } from '../../upstream/upstream.ts';
import { GatewayError } from '../json-rpc.ts';
import { createOpenPlaces } from '../open-places.ts';
import { createLegacySessions, type LegacySession, type LegacySessions } from './sessions.ts';

const owner = { tenantId: uuidv7(), agentId: uuidv7(), serverId: 'up' };
let time = 0;
let sessions: LegacySessions;

beforeEach(() => {
  vi.useFakeTimers();
  time = 0;
  const places = createOpenPlaces(4, () => false);
  const limits = { places, maxPerAgent: 2, idleMs: 1000, servesSeveral: () => false };
  sessions = createLegacySessions(limits, () => time);
});

afterEach(() => {
  sessions.close();
  vi.useRealTimers();
});

describe('sessions', () => {
  it('are found only by their owner', () => {
    const { token } = sessions.create(owner, '2025-06-18');
    expect(sessions.find(token, { ...owner })).toBeDefined();
    for (const other of [{ tenantId: uuidv7() }, { agentId: uuidv7() }, { serverId: null }]) {
      expect(sessions.find(token, { ...owner, ...other })).toBeUndefined();
    }
    expect(sessions.find('constructor', owner)).toBeUndefined();
  });

  it('end when they are idle, and not while a call is in progress', () => {
    const idle = sessions.create(owner, '2025-06-18');
    const busy = sessions.create(owner, '2025-06-18');
    busy.calls.set(1, new Cancellation());
    time = 1001;
    expect(sessions.find(idle.token, owner)).toBeUndefined();
    expect(sessions.find(busy.token, owner)).toBeDefined();
    busy.calls.clear();
    time = 2002;
    busy.endStream = () => undefined;
    vi.advanceTimersByTime(30_000);
    expect(sessions.count()).toBe(1);
    busy.endStream = null;
    time = 3003;
    vi.advanceTimersByTime(30_000);
    expect(sessions.count()).toBe(0);
  });

  it('are bounded for an agent, by evicting its oldest, and in total', () => {
    const ended = vi.fn();
    const first = sessions.create(owner, '2025-06-18');
    first.endStream = ended;
    sessions.create(owner, '2025-06-18');
    sessions.create(owner, '2025-06-18');
    expect(ended).toHaveBeenCalledOnce();
    expect(sessions.count()).toBe(2);
    const other = () => ({ ...owner, agentId: uuidv7() });
    sessions.create(other(), '2025-06-18');
    sessions.create(other(), '2025-06-18');
    expect(() => sessions.create(other(), '2025-06-18')).toThrow(GatewayError);
    // An owner that has sessions gets a new one in place of its oldest.
    expect(sessions.create(owner, '2025-06-18').token).toBeDefined();
  });

  it('share sessions with servers with those whose clients declare the same', () => {
    const shared = (id: string) => ({ shared: { id, bind: () => expect.unreachable() } });
    const place = (peerId?: string) => ({ ...owner, peerId });
    const plain = sessions.create(owner, '2025-06-18');
    expect([sessions.isSharing(place()), sessions.isSharing(place('a'))]).toEqual([true, false]);
    const one = sessions.create(owner, '2025-06-18', shared('a'));
    expect([sessions.isSharing(place('a')), sessions.isSharing(place('b'))]).toEqual([true, false]);
    expect(sessions.together(plain)).toEqual([plain]);
    const other = sessions.create(owner, '2025-06-18', shared('a'));
    expect(sessions.together(one)).toEqual([one, other]);
    expect(sessions.isSharing(place())).toBe(false);
  });

  it('end with the service, including their streams', () => {
    const ended = vi.fn();
    sessions.create(owner, '2025-06-18').endStream = ended;
    sessions.close();
    expect(ended).toHaveBeenCalledOnce();
    expect(sessions.count()).toBe(0);
  });

  it('keep the events of a tenant, however many those of another one missed', () => {
    sessions.close();
    const limits = { places: createOpenPlaces(100, () => true), maxPerAgent: 2, idleMs: 1000 };
    sessions = createLegacySessions({ ...limits, servesSeveral: () => true }, () => time);
    const outlet = { hasRoom: () => true, follow: () => undefined, hold: () => undefined };
    const open = ({ log }: LegacySession) =>
      log.open({ maxBuffered: 1e6, isLasting: false, outlet });
    const other = uuidv7();
    const event = 'x'.repeat(255 * 1024);
    for (let agent = 0; agent < 16; agent++) {
      const session = sessions.create(
        { ...owner, tenantId: other, agentId: uuidv7() },
        '2025-06-18',
      );
      // 8 MiB each.
      for (let n = 0; n < 32; n++) open(session).write(event);
    }
    const stream = open(sessions.create(owner, '2025-06-18'));
    stream.write(event);
    let fetched = '';
    const raw = { write: (text: string) => (fetched += text), once: vi.fn(), end: vi.fn() };
    stream.attach(raw as unknown as ServerResponse, 0);
    expect(fetched).toContain(event);
  });
});
