/**
 * Supervises the processes of one machine: starts them, kills one that hangs, restarts those that
 * died, and stops them.
 * It opens no data and serves no requests, so that a worker's fault cannot reach it.
 */
import type { Logger } from 'pino';
import type { WorkerPlace, WorkerReport } from '../workers/worker-place.ts';
import { watchHeartbeat } from './heartbeat.ts';

/** A process as the supervisor sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  onReport(listener: (report: WorkerReport) => void): void;
  /** @param listener called once; `why` is an exit code or the name of a signal */
  onExit(listener: (why: number | string) => void): void;
  /** Asks it to finish its work and exit. */
  askToStop(): void;
  /** Asks for a report, which only a running event loop gives. */
  ping(): void;
  /** Ends it at once, also where it hangs. */
  kill(): void;
}

/** A worker's share of the connections, which ends with the worker. */
export interface Share {
  leave(): void;
}

/** What an operator has to fix before any worker can start; reported once, not by each of them. */
export class WorkersFailed extends Error {
  constructor(messages: Iterable<string>) {
    super([...new Set(messages)].join('\n'));
    this.name = 'WorkersFailed';
  }
}

const BACKOFF = { first: 1_000, longest: 30_000 };
/** A worker that ran this long did not fail at its start. */
const STEADY_MS = 60_000;

/** Before the process that stops ends itself (30 s): nobody else would end what hangs. */
const STOP_WITHIN_MS = 25_000;

/** Exit code of a draining process that can never ship the rest: it is not restarted. */
export const CANNOT_DRAIN = 3;

interface Slot {
  place: WorkerPlace;
  process: WorkerProcess | null;
  timer: NodeJS.Timeout | undefined;
  /** Consecutive failures. */
  failures: number;
  share: Share | null;
  stopPings: () => void;
  /** Whether it was ready, or failed once. */
  isSettled: boolean;
}

export function startSupervisor(options: {
  /** The places to run: those that serve and those that drain. */
  places: readonly WorkerPlace[];
  start(place: WorkerPlace): WorkerProcess;
  /** Called when a worker can accept connections. */
  onReady(process: WorkerProcess): Share;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
}) {
  const { log } = options;
  const failures: string[] = [];
  let isOneReady = false;
  let isStarted = false;
  let isStopping = false;
  let settleStart: { resolve(): void; reject(error: Error): void };
  const started = new Promise<void>((resolve, reject) => {
    settleStart = { resolve, reject };
  });
  // A caller that stops it early does not await it.
  started.catch(() => undefined);
  const slots = options.places.map(
    (place): Slot => ({
      place,
      process: null,
      share: null,
      stopPings: () => undefined,
      timer: undefined,
      failures: 0,
      isSettled: place.task === 'drain',
    }),
  );

  function run(slot: Slot): void {
    const { worker, task } = slot.place;
    const startedAt = performance.now();
    const process = options.start(slot.place);
    slot.process = process;
    log.info({ worker, task, pid: process.pid }, 'a worker is started');
    process.onReport((report) => {
      if (report.kind === 'ready') {
        isOneReady = true;
        slot.share = options.onReady(process);
        slot.stopPings = watchHeartbeat(process, () => end(slot, 'it hangs'));
        settle(slot);
        return;
      }
      if (report.kind !== 'failed') return;
      failures.push(report.message);
      if (isStarted) log.error({ worker, reason: report.message }, 'a worker could not start');
      else if (report.isConfiguration) fail();
    });
    process.onExit((why) => {
      slot.process = null;
      slot.stopPings();
      leave(slot);
      if (isStopping) return;
      if (task === 'drain' && (why === 0 || why === CANNOT_DRAIN)) return;
      slot.failures = performance.now() - startedAt > STEADY_MS ? 1 : slot.failures + 1;
      const delay = Math.min(BACKOFF.longest, BACKOFF.first * 2 ** (slot.failures - 1));
      log.warn({ worker, task, why, again_in_ms: delay }, 'a worker ended and is started again');
      slot.timer = setTimeout(() => run(slot), delay);
      settle(slot);
    });
  }

  function leave(slot: Slot): void {
    slot.share?.leave();
    slot.share = null;
  }

  function end(slot: Slot, reason: string): void {
    const { worker, task } = slot.place;
    log.error({ worker, task, pid: slot.process?.pid, reason }, 'a worker is killed');
    slot.process?.kill();
    // One that waits for its disk ends only after that: its connections need not wait for it.
    leave(slot);
  }

  function settle(slot: Slot): void {
    slot.isSettled = true;
    if (isStarted || isStopping || !slots.every((one) => one.isSettled)) return;
    if (!isOneReady) {
      fail();
      return;
    }
    isStarted = true;
    settleStart.resolve();
  }

  function fail(): void {
    if (isStopping) return;
    const messages = failures.length > 0 ? failures : ['every worker ended at its start'];
    void stop().then(() => settleStart.reject(new WorkersFailed(messages)));
  }

  async function stop(): Promise<void> {
    isStopping = true;
    for (const { timer } of slots) clearTimeout(timer);
    const kills = setTimeout(() => {
      for (const slot of slots) if (slot.process) end(slot, 'it does not stop');
    }, STOP_WITHIN_MS);
    const running = slots.flatMap(({ process }) => process ?? []);
    const ends = running.map((process) => new Promise((resolve) => process.onExit(resolve)));
    for (const process of running) process.askToStop();
    await Promise.all(ends);
    clearTimeout(kills);
  }

  for (const slot of slots) run(slot);
  return {
    /**
     * Resolves once every worker that serves is ready or has failed, and one is ready at least.
     *
     * @throws WorkersFailed when none can start, or the configuration does not let one start
     */
    started,
    /** Stops all workers and waits for them; kills those that do not end. */
    stop,
  };
}
