import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WorkerPlace, WorkerReport } from '../workers/worker-place.ts';
import { CANNOT_DRAIN, startSupervisor, type WorkerProcess } from './supervisor.ts';

/** A process as the operating system presents it: the outer boundary. */
interface FakeProcess extends WorkerProcess {
  place: WorkerPlace;
  isAsked: boolean;
  isKilled: boolean;
  /** Whether it answers pings. */
  isRunning: boolean;
  say(report: WorkerReport): void;
  exit(why: number | string): void;
}

const READY = { kind: 'ready' } as const;
let processes: FakeProcess[];
let shares: number[];

beforeEach(() => {
  vi.useFakeTimers();
  processes = [];
  shares = [];
});
afterEach(() => vi.useRealTimers());

function start(place: WorkerPlace): FakeProcess {
  const reports: ((report: WorkerReport) => void)[] = [];
  const exits: ((why: number | string) => void)[] = [];
  const process: FakeProcess = {
    place,
    pid: processes.length,
    isAsked: false,
    isKilled: false,
    isRunning: true,
    onReport: (listener) => reports.push(listener),
    onExit: (listener) => exits.push(listener),
    askToStop: () => {
      process.isAsked = true;
    },
    ping: () => {
      if (process.isRunning) process.say({ kind: 'alive' });
    },
    kill: () => {
      process.isKilled = true;
    },
    say: (report) => {
      for (const listener of reports) listener(report);
    },
    exit: (why) => {
      for (const listener of exits) listener(why);
    },
  };
  processes.push(process);
  return process;
}

function supervise(serving: number, draining: number[] = []) {
  const common = { count: serving, socketDir: '/nowhere' };
  return startSupervisor({
    places: [
      ...Array.from({ length: serving }, (_, index) => ({
        task: 'serve' as const,
        worker: index + 1,
        ...common,
      })),
      ...draining.map((worker) => ({ task: 'drain' as const, worker, ...common })),
    ],
    start,
    onReady: ({ pid = -1 }) => {
      shares.push(pid);
      return { leave: () => shares.splice(shares.indexOf(pid), 1) };
    },
    log: pino({ level: 'silent' }),
  });
}

const at = (index: number) => processes[index] as FakeProcess;
const failed = (message: string, isConfiguration = false) =>
  ({ kind: 'failed', message, isConfiguration }) as const;

describe('the start', () => {
  it('ends when all are ready or failed, and one is ready', async () => {
    const { started } = supervise(2);
    let isStarted = false;
    void started.then(() => (isStarted = true));
    at(0).say(READY);
    await vi.advanceTimersByTimeAsync(0);
    expect(isStarted).toBe(false);
    at(1).exit(1);
    await started;
    expect(shares).toEqual([0]);
  });

  it('fails when all fail, and says each reason once', async () => {
    const { started } = supervise(3);
    const refusal = expect(started).rejects.toMatchObject({
      name: 'WorkersFailed',
      message: 'the disk is full\nno idea',
    });
    for (const [index, message] of ['the disk is full', 'no idea', 'the disk is full'].entries()) {
      at(index).say(failed(message));
      at(index).exit(1);
    }
    await refusal;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(processes).toHaveLength(3);
  });

  it('fails at once for what an operator has to change', async () => {
    const { started } = supervise(2);
    const refusal = expect(started).rejects.toMatchObject({ message: 'SERVICE_X is wrong' });
    at(0).say(failed('SERVICE_X is wrong', true));
    expect(processes.map(({ isAsked }) => isAsked)).toEqual([true, true]);
    at(0).exit(1);
    at(1).exit(0);
    await refusal;
  });
});

describe('a worker that dies', () => {
  it('is restarted after 1 s, 2 s … 30 s, and after 1 s once it had run steadily', async () => {
    const { started } = supervise(2);
    for (const process of processes) process.say(READY);
    await started;
    let current = at(1);
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      const before = processes.length;
      current.exit('SIGKILL');
      expect(shares).toEqual([0]);
      await vi.advanceTimersByTimeAsync(seconds * 1000 - 1);
      expect(processes).toHaveLength(before);
      await vi.advanceTimersByTimeAsync(1);
      expect(processes).toHaveLength(before + 1);
      current = processes.at(-1) as FakeProcess;
      expect(current.place.worker).toBe(2);
    }
    current.say(READY);
    expect(shares).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(61_000);
    current.exit(0);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(processes).toHaveLength(10);
    expect(at(0).isAsked).toBe(false);
  });

  it('is not restarted once all are stopped', async () => {
    const supervisor = supervise(3);
    for (const process of processes) process.say(READY);
    at(2).exit(1);
    const stopped = supervisor.stop();
    expect(processes.map(({ isAsked }) => isAsked)).toEqual([true, true, false]);
    at(0).exit(0);
    let isStopped = false;
    void stopped.then(() => (isStopped = true));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(isStopped).toBe(false);
    at(1).exit(0);
    await stopped;
    await supervisor.stop();
    expect(processes).toHaveLength(3);
  });
});

describe('a worker that hangs', () => {
  const killed = () => processes.map(({ isKilled }) => isKilled);

  it('is killed after 15 s without an answer, and restarted; its connections go at once', async () => {
    const { started } = supervise(2);
    for (const process of processes) process.say(READY);
    await started;
    await vi.advanceTimersByTimeAsync(120_000);
    at(1).isRunning = false;
    await vi.advanceTimersByTimeAsync(14_000);
    expect(killed()).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(killed()).toEqual([false, true]);
    expect(shares).toEqual([0]);
    at(1).exit('SIGKILL');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(at(2).place.worker).toBe(2);
  });

  it('lives on while it says anything: a ping may wait behind connections', async () => {
    const { started } = supervise(1);
    at(0).say(READY);
    await started;
    at(0).isRunning = false;
    for (let n = 0; n < 10; n++) {
      at(0).say({ kind: 'taken', id: n });
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(killed()).toEqual([false]);
  });

  it('is not looked for while it starts, nor in one that drains', async () => {
    supervise(1, [2]);
    for (const process of processes) process.isRunning = false;
    await vi.advanceTimersByTimeAsync(600_000);
    expect(killed()).toEqual([false, false]);
  });

  it('is not what a machine that slept leaves: time in which no ping was sent does not count', async () => {
    const { started } = supervise(1);
    at(0).say(READY);
    await started;
    at(0).isRunning = false;
    await vi.advanceTimersByTimeAsync(6_000);
    vi.setSystemTime(Date.now() + 86_400_000);
    await vi.advanceTimersByTimeAsync(3_000);
    at(0).isRunning = true;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(killed()).toEqual([false]);
  });
});

it('kills what has not stopped after 25 s, also where it did not start', async () => {
  const supervisor = supervise(3);
  at(0).say(READY);
  const stopped = supervisor.stop();
  at(0).exit(0);
  await vi.advanceTimersByTimeAsync(24_000);
  const killed = () => processes.map(({ isKilled }) => isKilled);
  expect(killed()).toEqual([false, false, false]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(killed()).toEqual([false, true, true]);
  for (const index of [1, 2]) at(index).exit('SIGKILL');
  await stopped;
});

describe('a process that drains', () => {
  it('ends when it has shipped everything, or never can, and is restarted otherwise', async () => {
    const { started } = supervise(1, [2, 3, 4]);
    at(0).say(READY);
    await started;
    expect(processes.map(({ place }) => place.task)).toEqual(['serve', 'drain', 'drain', 'drain']);
    at(1).exit(0);
    at(2).exit(CANNOT_DRAIN);
    at(3).exit(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(processes).toHaveLength(5);
    expect(at(4).place).toMatchObject({ task: 'drain', worker: 4 });
  });
});
