import { uuidv7 } from '@governance/shared/ids';
import { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPendingWrites } from '../../storage/pending-writes.ts';
import type { AgentCall, AgentKey } from '../call/calls.ts';
import { createRefusedCalls } from './refused-calls.ts';

const TENANT = uuidv7();
const LIMIT = { tier: 'low', requests: 5, window_seconds: 10, retryAfter: 3 } as const;

let now = 0;
let hasRoom: boolean;
let written: [string, Record<string, unknown>][];
beforeEach(() => {
  vi.useFakeTimers();
  now = Date.UTC(2026, 0, 2);
  hasRoom = true;
  written = [];
});
afterEach(() => vi.useRealTimers());

const raiseAlert = vi.fn();
const lost = vi.fn();
const aRecorder = (limits = {}, seat?: { worker: number; count: number }) =>
  createRefusedCalls(
    {
      ...(seat && { seat }),
      ledger: {
        append: async (tenantId, record) => {
          if (!hasRoom) throw new Error('no room');
          written.push([tenantId, UnchainedRecord.parse(record)]);
          return { seq: 1, hash: '' } as never;
        },
      },
      writes: createPendingWrites({ error: () => undefined }),
      raiseAlert,
      now: () => now,
      count: () => undefined,
      log: { error: lost },
    },
    limits,
  );

const agents = [uuidv7(), uuidv7(), uuidv7()];
const call = (agent: number) =>
  ({
    caller: { tenantId: TENANT, key: `${TENANT} ${agents[agent]}` as AgentKey },
    agent: { id: agents[agent] },
  }) as AgentCall;

it('writes one record an agent and second, with all that was refused', async () => {
  const refused = aRecorder();
  for (let i = 0; i < 500; i++) refused.count(call(0), LIMIT, 7);
  now += 400;
  refused.count(call(0), LIMIT, 7);
  refused.count(call(1), LIMIT, 7);
  await vi.advanceTimersByTimeAsync(999);
  expect(written).toEqual([]);
  now += 600;
  await vi.advanceTimersByTimeAsync(1);
  expect(written).toMatchObject([
    [
      TENANT,
      {
        type: 'rate_limited',
        agent_id: agents[0],
        refused: 501,
        since: '2026-01-02T00:00:00.000Z',
        until: '2026-01-02T00:00:00.400Z',
        // Written then: another record may have come in between.
        timestamp: '2026-01-02T00:00:01.000Z',
        limit: 5,
        window_seconds: 10,
        risk_tier: 'low',
        bundle_revision: 7,
      },
    ],
    [TENANT, { agent_id: agents[1], refused: 1 }],
  ]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(written).toHaveLength(2);
});

it('writes one record an agent and second where three workers refuse its calls', async () => {
  const workers = [1, 2, 3].map((worker) => aRecorder({}, { worker, count: 3 }));
  for (let ms = 0; ms < 12_000; ms += 50) {
    for (const refused of workers) refused.count(call(0), LIMIT, 7);
    now += 50;
    await vi.advanceTimersByTimeAsync(50);
  }
  const seconds = written.map(([, { timestamp }]) => String(timestamp).slice(0, 19));
  expect(seconds.length).toBeGreaterThan(8);
  expect(new Set(seconds).size).toBe(seconds.length);
  for (const refused of workers) await refused.stop();
  const counts = written.map(([, { refused: count }]) => Number(count));
  expect(counts.reduce((sum, count) => sum + count)).toBe(3 * 240);
});

it('loses none when the ledger has no room, and none at a stop', async () => {
  const refused = aRecorder();
  refused.count(call(0), LIMIT, null);
  hasRoom = false;
  await vi.advanceTimersByTimeAsync(1_000);
  refused.count(call(0), LIMIT, null);
  hasRoom = true;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(written.map(([, { refused: count }]) => count)).toEqual([2]);
  refused.count(call(0), LIMIT, null);
  await refused.stop();
  expect(written.map(([, { refused: count }]) => count)).toEqual([2, 1]);
});

it('raises an alert', () => {
  raiseAlert.mockClear();
  aRecorder().count(call(0), LIMIT, 7);
  expect(raiseAlert).toHaveBeenCalledWith(
    TENANT,
    expect.objectContaining({ alert_type: 'AGENT_RATE_LIMITED', agent_id: agents[0] }),
  );
});

it('counts no more agents at once than it may, and says what it did not count', async () => {
  const refused = aRecorder({ maxWaiting: 2 });
  for (const agent of [0, 1, 2, 2, 0]) refused.count(call(agent), LIMIT, null);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(written.map(([, { refused: count }]) => count)).toEqual([2, 1]);
  expect(lost).toHaveBeenCalledExactlyOnceWith({ refused: 2 }, expect.any(String));
  refused.count(call(2), LIMIT, null);
  await refused.stop();
  expect(written.at(-1)).toMatchObject([TENANT, { agent_id: agents[2], refused: 1 }]);
});

it('writes at a stop what the ledger did not take just before', async () => {
  const refused = aRecorder();
  refused.count(call(0), LIMIT, null);
  hasRoom = false;
  vi.advanceTimersByTime(1_000);
  hasRoom = true;
  await refused.stop();
  expect(written.map(([, { refused: count }]) => count)).toEqual([1]);
});
