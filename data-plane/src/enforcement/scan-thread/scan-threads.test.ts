import { EventEmitter } from 'node:events';
import { Worker } from 'node:worker_threads';
import { DEFAULT_DLP_SETTINGS } from '@governance/shared/settings/dlp-settings';
import { afterEach, expect, it, vi } from 'vitest';
import type { ScanAnswer, ScanJob } from './scan-jobs.ts';
import { createScanThreads, type ScanThreads } from './scan-threads.ts';

const LIMITS = { threads: 2, waiting: 3, waitMs: 60_000, runMs: 60_000 };
const settings = JSON.stringify(DEFAULT_DLP_SETTINGS);
const AT = { tenantId: 't', agentId: 'a', lane: 'call' } as const;
const SOUND: ScanAnswer = { kind: 'sent', scan: { findings: [], matched: new Map() } };
const jobOf = (value: string): ScanJob => ({ kind: 'sent', settings, value });

/** A thread that answers when it is told to. */
class HeldWorker extends EventEmitter {
  readonly jobs: ScanJob[] = [];
  isEnded = false;
  postMessage(job: ScanJob): void {
    this.jobs.push(job);
  }
  async terminate(): Promise<number> {
    this.isEnded = true;
    return 0;
  }
  unref(): void {}
}

let threads: ScanThreads;
let workers: HeldWorker[] = [];
const valuesOf = () => workers.map(({ jobs }) => jobs.map(({ value }) => value));

function create(over: Partial<typeof LIMITS> = {}): ScanThreads {
  workers = [];
  threads = createScanThreads({ ...LIMITS, ...over }, () => {
    const worker = new HeldWorker();
    workers.push(worker);
    return worker as unknown as Worker;
  });
  return threads;
}

afterEach(() => threads.close());

it('gives a tenant one thread, and the other to everybody else', async () => {
  const { run } = create();
  const first = run(AT, () => jobOf('t1'));
  const second = run(AT, () => jobOf('t2'));
  void run({ ...AT, tenantId: 'u' }, () => jobOf('u1')).catch(() => undefined);
  expect(valuesOf()).toEqual([['t1'], ['u1']]);
  workers[0]?.emit('message', SOUND);
  expect(await first).toEqual(SOUND);
  expect(valuesOf()).toEqual([['t1', 't2'], ['u1']]);
  workers[0]?.emit('message', SOUND);
  expect(await second).toEqual(SOUND);
});

it('refuses a scan when too many of the tenant wait, or when it waits too long', async () => {
  const { run } = create({ waiting: 1, waitMs: 1 });
  const running = run(AT, () => jobOf('t1'));
  const waiting = run(AT, () => jobOf('t2'));
  await expect(run(AT, () => jobOf('t3'))).rejects.toMatchObject({ reason: 'overloaded' });
  await expect(waiting).rejects.toMatchObject({ reason: 'overloaded' });
  workers[0]?.emit('message', SOUND);
  expect(await running).toEqual(SOUND);
  expect(valuesOf()).toEqual([['t1']]);
});

it('new calls of an agent leave room for others, and for the answers to its earlier ones', async () => {
  const { run } = create({ waiting: 8 });
  const refused: string[] = [];
  const add = (value: string, place: object = {}) =>
    void run({ ...AT, ...place }, () => jobOf(value)).catch(() => refused.push(value));
  for (const value of ['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6']) add(value);
  await vi.waitFor(() => expect(refused).toEqual(['a5', 'a6']));
  for (const agentId of ['b', 'c', 'd', 'e', 'f']) add(agentId, { agentId });
  add('answer', { lane: 'answer' });
  add('kept', { lane: 'kept-answer' });
  const taken = ['a0', 'a1', 'answer', 'kept', 'b', 'c', 'd', 'e', 'f', 'a2', 'a3', 'a4'];
  for (const at of taken.keys()) {
    // The next one is taken when what follows the answer is done.
    await vi.waitFor(() => expect(workers[0]?.jobs).toHaveLength(at + 1), { interval: 1 });
    workers[0]?.emit('message', SOUND);
  }
  expect(valuesOf()).toEqual([taken]);
  expect(refused).toEqual(['a5', 'a6']);
});

it('ends a thread that takes too long, and continues with a new one', async () => {
  const { run } = create({ runMs: 1 });
  await expect(run(AT, () => jobOf('t1'))).rejects.toMatchObject({ reason: 'timeout' });
  expect(workers[0]?.isEnded).toBe(true);
  const next = run(AT, () => jobOf('t2'));
  workers[1]?.emit('message', SOUND);
  expect(await next).toEqual(SOUND);
});

it('ends a thread that hangs or does not answer, and continues with a new one', async () => {
  const started: Worker[] = [];
  const codes = ['for (;;);', `require('node:worker_threads').parentPort.on('message', () => {})`];
  threads = createScanThreads({ ...LIMITS, runMs: 100 }, () => {
    const worker = new Worker(codes[started.length] as string, { eval: true });
    started.push(worker);
    return worker;
  });
  for (const _ of codes) {
    await expect(threads.run(AT, () => jobOf('t1'))).rejects.toMatchObject({ reason: 'timeout' });
  }
  // -1: it was ended.
  await expect.poll(() => started.map(({ threadId }) => threadId)).toEqual([-1, -1]);
});

it('refuses the scans of a thread that ended', async () => {
  const { run } = create();
  const running = run(AT, () => jobOf('t1'));
  workers[0]?.emit('error', new Error('out of memory'));
  await expect(running).rejects.toMatchObject({ reason: 'stopped' });
  const broken = run(AT, () => {
    throw new Error('no JSON');
  });
  await expect(broken).rejects.toThrow('no JSON');
  const next = run(AT, () => jobOf('t2'));
  workers[1]?.emit('message', SOUND);
  expect(await next).toEqual(SOUND);
});

it('answers as the main thread does', async () => {
  threads = createScanThreads();
  const key = `AKIA${'Q3EGRNX5T7WVUZ2J'}`;
  const value = JSON.stringify({ note: key });
  const sent = await threads.run(AT, () => jobOf(value));
  expect(sent).toMatchObject({ kind: 'sent', scan: { findings: [{ place: '/note' }] } });
  const matched = new Map([[key, '[REDACTED:aws_access_key_id]']]);
  expect(sent).toMatchObject({ scan: { matched } });
  const received = { isFromClient: false, carry: '', opaque: [], outputSchema: undefined };
  const answer = await threads.run(AT, () => ({ kind: 'received', settings, value, received }));
  expect(answer).toMatchObject({
    kind: 'received',
    report: { redacted: { raw: expect.stringContaining('[REDACTED:') } },
  });
  const failed = await threads.run(AT, () => ({ ...jobOf(value), settings: '{}' }));
  expect(failed.kind).toBe('failed');
});
