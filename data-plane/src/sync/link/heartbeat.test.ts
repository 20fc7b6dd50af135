import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startHeartbeat } from './heartbeat.ts';

/** When beats were sent, in seconds since the start, and what each told. */
let sent: { at: number; told: number }[];
let told: number;
let answer: () => Promise<void>;
let heartbeat: ReturnType<typeof startHeartbeat>;
let warned: unknown[][];

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  told = 0;
  warned = [];
  answer = async () => undefined;
  const began = Date.now();
  heartbeat = startHeartbeat({
    tenantId: 'tenant',
    link: {
      heartbeat: async (body) => {
        sent.push({ at: (Date.now() - began) / 1000, told: body.active_agent_count });
        await answer();
        return { received: true, timestamp: new Date().toISOString() };
      },
    },
    body: () => ({
      deployment_id: '0190aaaa-0000-7000-8000-00000000000a',
      active_agent_count: told,
      proxy_rpm_1m: 0,
      escalations_pending: 0,
      opa_bundle_version: '1',
      uptime_seconds: 0,
    }),
    log: {
      info: () => undefined,
      warn: (...line) => void warned.push(line),
      error: () => undefined,
    },
    now: Date.now,
  });
});

afterEach(() => {
  heartbeat.stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** The next beat is not answered until the returned function is called. */
function holdNext(): () => void {
  let finish: (() => void) | undefined;
  answer = () =>
    new Promise<void>((resolve) => {
      finish = resolve;
      answer = async () => undefined;
    });
  return () => finish?.();
}

const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);

it('says once whose heartbeat was not received, and why', async () => {
  answer = async () => {
    throw new Error('no route to host');
  };
  await pass(120);
  expect(warned).toEqual([
    [
      expect.objectContaining({ tenantId: 'tenant', reason: 'no route to host' }),
      'a heartbeat was not received',
    ],
  ]);
});

it('beats at the start and every minute', async () => {
  await pass(180);
  expect(sent.map(({ at }) => at)).toEqual([0, 60, 120, 180]);
});

it('reports a change within five seconds, and flapping at most every five', async () => {
  await pass(10);
  told = 1;
  heartbeat.report();
  await pass(5);
  expect(sent.map((beat) => beat.told)).toEqual([0, 1]);
  for (let i = 0; i < 400; i++) {
    heartbeat.report();
    await pass(0.1);
  }
  const extra = sent.filter(({ at }) => at > 0 && at < 60).map(({ at }) => at);
  expect(extra.length).toBeGreaterThan(4);
  for (const [i, at] of extra.slice(1).entries()) {
    expect(at - (extra[i] ?? 0)).toBeGreaterThanOrEqual(4.999);
  }
});

it('reports what changed while a heartbeat was in flight', async () => {
  const finish = holdNext();
  await pass(60);
  told = 1;
  heartbeat.report();
  await pass(20);
  expect(sent.map((beat) => beat.told)).toEqual([0, 0]);
  finish();
  await pass(10);
  expect(sent.at(-1)?.told).toBe(1);
});

it('repeats a failed heartbeat when the control plane answers, and no other', async () => {
  answer = async () => {
    throw new Error('away');
  };
  await pass(60);
  expect(heartbeat.status().failure?.stage).toBe('heartbeat');
  answer = async () => undefined;
  heartbeat.wake();
  await pass(10);
  expect([sent.length, heartbeat.status().failure]).toEqual([3, null]);
  heartbeat.wake();
  await pass(10);
  expect(sent.length).toBe(3);
});

it('sends nothing after it was stopped, though a beat was under way', async () => {
  const finish = holdNext();
  await pass(60);
  heartbeat.report();
  await pass(6);
  heartbeat.stop();
  heartbeat.report();
  finish();
  await pass(120);
  expect(sent).toHaveLength(2);
});
