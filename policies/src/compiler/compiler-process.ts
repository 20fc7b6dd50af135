/**
 * The compiler's worker thread behind a fair queue: one request at a time, started on demand, ended
 * when idle, terminated when a request takes too long.
 */
import type { Worker } from 'node:worker_threads';
import { assetPath } from '@governance/shared/assets';
import { AppError } from '@governance/shared/errors';
import { spawnWorker } from '@governance/shared/spawn-worker';
import type { PolicyOutcome } from '../contract.ts';
import type {
  CompilerAnswer,
  CompilerRequest,
  CrashCause,
  JudgeRequest,
  WorkerMessage,
  WorkerRequest,
} from './compiler-wire.ts';
import { createTurnQueue } from './turn-queue.ts';

export const COMPILER_ARTIFACT = 'policies/compiler/artifact/rego-compiler.wasm.br';

/** Loading the WebAssembly takes half a second; a machine under load gets much more. */
const START_TIMEOUT_MS = 60_000;

/** The result of a request: an answer, or the reason why it was stopped. */
export type CompilerOutcome = { kind: 'answer'; answer: CompilerAnswer } | StoppedOutcome;

/** The decision of compiled policies, or why there is none. */
export type JudgeOutcome =
  | { kind: 'judged'; outcome: PolicyOutcome }
  | { kind: 'not_loaded'; message: string }
  | CompilerOutcome;

export interface StoppedOutcome {
  kind: 'stopped';
  cause: CrashCause | 'timeout';
  message: string;
}

export interface CompilerProcess {
  /**
   * Returns the answer, or why it was stopped; throws UNAVAILABLE when closed or the queue is full.
   *
   * @param how the requester's id, by which waiting requesters take turns, and the request's own
   *   limit of time
   */
  ask(request: CompilerRequest, how?: AskOptions): Promise<CompilerOutcome>;
  /** As `ask`: compiles, loads what was compiled as a data plane does, and asks for one decision. */
  judge(request: JudgeRequest, how?: AskOptions): Promise<JudgeOutcome>;
  /** Whether a worker thread is up. */
  isRunning(): boolean;
  close(): Promise<void>;
}

export interface AskOptions {
  turn?: string | undefined;
  /** Unless given, the process's own. */
  timeoutMs?: number;
}

export interface CompilerProcessOptions {
  /** The worker ends after this long without a request. */
  idleMs: number;
  /** A request that takes longer is stopped, and the worker with it. */
  timeoutMs: number;
  /** Bound of the compiler's memory, in pages of 64 KiB. */
  memoryPages: number;
  /** Requests that may wait; more are refused. */
  maxQueue: number;
  /** Limit per `turn`, so that a tenant's storm leaves room for the others. */
  maxQueueOfOne: number;
}

interface Job {
  /** Completed when its turn has come, so that what waits holds little. */
  request(): WorkerRequest;
  timeoutMs: number;
  keep?: JudgeRequest['keep'];
  settle(outcome: JudgeOutcome): void;
  fail(error: unknown): void;
}

export function createCompilerProcess(options: CompilerProcessOptions): CompilerProcess {
  const queue = createTurnQueue<Job>({ max: options.maxQueue, maxOfOne: options.maxQueueOfOne });
  let worker: Worker | undefined;
  let current: Job | undefined;
  let currentTurn = '';
  /** How long, and until when, the owner of a stopped request lets others go first, by turn. */
  const resting = new Map<string, { ms: number; until: number }>();
  let waking: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const endings = new Set<Promise<unknown>>();

  function dropWorker(): void {
    clearTimeout(timer);
    if (!worker) return;
    const ending = worker.terminate().catch(() => undefined);
    worker = undefined;
    endings.add(ending);
    void ending.then(() => endings.delete(ending));
  }

  function finish(outcome: JudgeOutcome): void {
    clearTimeout(timer);
    const job = current;
    current = undefined;
    job?.settle(outcome);
    if (job && outcome.kind === 'stopped' && outcome.cause === 'timeout' && currentTurn !== '') {
      const ms = job.timeoutMs;
      resting.set(currentTurn, { ms, until: performance.now() + ms });
    }
    next();
  }

  /**
   * With turns only, a requester whose requests are always stopped would run between any two
   * requests of the others. So it rests for as long as its request took, even while nobody waits.
   */
  function takeNext(): Job | undefined {
    const now = performance.now();
    for (const [turn, { until }] of resting) if (until <= now) resting.delete(turn);
    clearTimeout(waking);
    const taken = queue.take((turn) => !resting.has(turn));
    if (taken) {
      currentTurn = taken.turn;
      return taken.entry;
    }
    const ends = queue.turns().flatMap((turn) => resting.get(turn)?.until ?? []);
    if (ends.length > 0) waking = setTimeout(next, Math.max(1, Math.min(...ends) - now));
    return undefined;
  }

  /** The worker has ended or must end; its pending request is rejected with the reason. */
  function lose(outcome: StoppedOutcome): void {
    dropWorker();
    finish(outcome);
  }

  function start(): Worker {
    const started = spawnWorker(import.meta.url, 'rego-compiler-worker', {
      workerData: { artifact: assetPath(COMPILER_ARTIFACT), memoryPages: options.memoryPages },
      resourceLimits: { stackSizeMb: 4 },
    });
    const mine = (handle: () => void) => {
      if (worker === started) handle();
    };
    started.on('message', (message: WorkerMessage) => mine(() => hear(started, message)));
    started.on('error', (error) =>
      mine(() => lose({ kind: 'stopped', cause: 'other', message: String(error) })),
    );
    started.on('exit', (code) =>
      mine(() => lose({ kind: 'stopped', cause: 'other', message: `the worker ended (${code})` })),
    );
    return started;
  }

  function hear(from: Worker, message: WorkerMessage): void {
    if (message.kind === 'crash') finish({ ...message, kind: 'stopped' });
    else if (message.kind !== 'ready') {
      if (message.kind === 'judged' && message.compiled) current?.keep?.(message.compiled);
      finish(message);
    } else {
      // Starting the worker is part of the stopped request's cost, so the rest begins here.
      for (const rest of resting.values()) rest.until = performance.now() + rest.ms;
      if (current) dispatch(from, current);
    }
  }

  function dispatch(to: Worker, job: Job): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const seconds = job.timeoutMs / 1000;
      lose({ kind: 'stopped', cause: 'timeout', message: `it took longer than ${seconds} s` });
    }, job.timeoutMs);
    to.postMessage(job.request());
  }

  function next(): void {
    if (current || closed) return;
    current = takeNext();
    if (!current) {
      rest();
      return;
    }
    clearTimeout(timer);
    if (worker) {
      worker.ref();
      dispatch(worker, current);
      return;
    }
    try {
      worker = start();
    } catch (error) {
      const job = current;
      current = undefined;
      job.fail(error);
      next();
      return;
    }
    timer = setTimeout(
      () => lose({ kind: 'stopped', cause: 'timeout', message: 'the compiler did not start' }),
      START_TIMEOUT_MS,
    );
  }

  /** Idle: the thread no longer keeps the process alive, and ends if it stays idle. */
  function rest(): void {
    clearTimeout(timer);
    worker?.unref();
    timer = setTimeout(dropWorker, options.idleMs);
    timer.unref();
  }

  function post(
    request: () => WorkerRequest,
    { turn = '', timeoutMs = options.timeoutMs }: AskOptions,
    keep?: JudgeRequest['keep'],
  ): Promise<JudgeOutcome> {
    return new Promise((settle, fail) => {
      const job = { request, timeoutMs, settle, fail, ...(keep && { keep }) };
      if (closed || !queue.put(turn, job)) {
        const why = closed ? 'is closed' : 'is busy: try again in a few seconds';
        fail(new AppError('UNAVAILABLE', `The policy compiler ${why}.`));
        return;
      }
      next();
    });
  }

  return {
    async ask(request, how = {}) {
      const compiler = JSON.stringify(request);
      const outcome = await post(() => ({ compiler }), how);
      if (outcome.kind === 'answer' || outcome.kind === 'stopped') return outcome;
      throw new Error('the compiler gave another answer than it was asked for');
    },
    judge({ compile, find, keep, ...asked }, how = {}) {
      const compiler = JSON.stringify(compile);
      return post(() => ({ compiler, judge: { ...asked, wasm: find() } }), how, keep);
    },
    isRunning: () => worker !== undefined,
    async close() {
      closed = true;
      clearTimeout(waking);
      const waiting = [...(current ? [current] : []), ...queue.empty()];
      current = undefined;
      dropWorker();
      for (const job of waiting) job.fail(new AppError('UNAVAILABLE', 'The compiler was closed.'));
      await Promise.all(endings);
    },
  };
}
