/**
 * A pool of threads for scans that would block the main thread for too long. A tenant uses only one
 * thread at a time, so that its hostile texts leave the other one to everybody else. A scan that
 * takes too long is ended with its thread. A job without an answer is an error, for which the
 * caller blocks the text.
 */
import type { Worker } from 'node:worker_threads';
import { spawnWorker } from '@governance/shared/process/spawn-worker';
import { createRests } from '@governance/shared/rests';
import { FairQueue, type Place } from './fair-queue.ts';
import type { ScanAnswer, ScanJob } from './scan-jobs.ts';

/** `overloaded`: too many jobs of the agent or its tenant wait, or this one waited too long for its turn. */
export type ScanFailureReason = 'overloaded' | 'timeout' | 'stopped';

export class ScanFailure extends Error {
  readonly reason: ScanFailureReason;

  constructor(reason: ScanFailureReason, message: string) {
    super(message);
    this.name = 'ScanFailure';
    this.reason = reason;
  }
}

export type ScanThreads = ReturnType<typeof createScanThreads>;

export interface ScanLimits {
  threads: number;
  /** Jobs of one tenant that may wait in a lane, shared by its agents. */
  waiting: number;
  /** How long a job waits for its turn. */
  waitMs: number;
  /** How long a scan may take. */
  runMs: number;
}

/** `waitMs` and `runMs` together are less than a step of enforcement may take. */
const LIMITS: ScanLimits = { threads: 2, waiting: 1_000, waitMs: 40_000, runMs: 10_000 };
/** Heap of a thread. A text that needs more ends only its thread. */
const HEAP_MB = 512;

interface Waiting {
  readonly place: Place;
  readonly make: () => ScanJob;
  readonly resolve: (answer: ScanAnswer) => void;
  readonly reject: (error: unknown) => void;
  timer?: NodeJS.Timeout;
}

interface Thread {
  readonly worker: Pick<Worker, 'postMessage' | 'terminate'>;
  job: Waiting | null;
}

const startWorker = (): Worker =>
  spawnWorker(import.meta.url, 'scan-thread-worker', {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });

/** Creates the pool. Threads are started when they are needed. */
export function createScanThreads(limits: ScanLimits = LIMITS, start: () => Worker = startWorker) {
  const queue = new FairQueue<Waiting>();
  const threads = new Set<Thread>();
  /** Tenants with a job on a thread, or whose answer is not handed over yet. */
  const atWork = new Set<string>();
  const inTurn = createRests();
  let isClosed = false;

  function startThread(): Thread {
    const worker = start();
    const thread: Thread = { worker, job: null };
    threads.add(thread);
    worker.on('message', (answer: ScanAnswer) => {
      const job = release(thread);
      if (job === null) return;
      inTurn(() => {
        job.resolve(answer);
        atWork.delete(job.place.tenantId);
        next();
      });
      next();
    });
    worker.on('error', (error) => retire(thread, 'stopped', `the scan failed: ${error.message}`));
    worker.on('exit', () => retire(thread, 'stopped', 'the scan thread ended'));
    // The thread does not keep the process alive.
    worker.unref();
    return thread;
  }

  function release(thread: Thread): Waiting | null {
    const { job } = thread;
    if (job === null) return null;
    clearTimeout(job.timer);
    thread.job = null;
    return job;
  }

  function retire(thread: Thread, reason: ScanFailureReason, message: string): void {
    if (!threads.delete(thread)) return;
    void thread.worker.terminate();
    const job = release(thread);
    if (job) atWork.delete(job.place.tenantId);
    job?.reject(new ScanFailure(reason, message));
    next();
  }

  function next(): void {
    while (!isClosed) {
      const idle = [...threads].find(({ job }) => job === null);
      if (idle === undefined && threads.size >= limits.threads) return;
      const job = queue.take((tenantId) => !atWork.has(tenantId));
      if (job === undefined) return;
      clearTimeout(job.timer);
      try {
        begin(idle ?? startThread(), job);
      } catch (error) {
        job.reject(error);
      }
    }
  }

  function begin(thread: Thread, job: Waiting): void {
    thread.worker.postMessage(job.make());
    thread.job = job;
    atWork.add(job.place.tenantId);
    job.timer = setTimeout(
      () => retire(thread, 'timeout', 'the scan took too long'),
      limits.runMs,
    ).unref();
  }

  return {
    /**
     * Runs a job on a thread.
     *
     * @param make called at the job's turn, so that waiting jobs hold no copies
     * @throws ScanFailure
     */
    run: (place: Place, make: () => ScanJob): Promise<ScanAnswer> =>
      new Promise((resolve, reject) => {
        if (isClosed) throw new ScanFailure('stopped', 'the service is stopping');
        if (!queue.hasRoom(place, limits.waiting)) {
          throw new ScanFailure('overloaded', 'too many scans wait');
        }
        const job: Waiting = { place, make, resolve, reject };
        job.timer = setTimeout(() => {
          queue.delete(place, job);
          reject(new ScanFailure('overloaded', 'the scan waited too long for its turn'));
        }, limits.waitMs).unref();
        queue.add(place, job);
        next();
      }),
    async close(): Promise<void> {
      isClosed = true;
      const ended = new ScanFailure('stopped', 'the service is stopping');
      for (let job = queue.take(() => true); job; job = queue.take(() => true)) {
        clearTimeout(job.timer);
        job.reject(ended);
      }
      const workers = [...threads].map(({ worker }) => worker);
      for (const thread of threads) retire(thread, 'stopped', ended.message);
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}
