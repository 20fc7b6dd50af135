/**
 * The compiler's worker thread behind a fair queue: one request at a time, started on demand, ended
 * when idle, terminated when a request takes too long.
 */
import { AppError } from '@governance/shared/errors';
import type { PolicyOutcome } from '../contract.ts';
import { createCompilerThread } from './compiler-thread.ts';
import type {
  CompilerAnswer,
  CompilerRequest,
  CrashCause,
  JudgeRequest,
  WorkerMessage,
  WorkerRequest,
} from './compiler-wire.ts';
import { createRestingQueue } from './resting-queue.ts';

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
  const queue = createRestingQueue<Job>(
    { max: options.maxQueue, maxOfOne: options.maxQueueOfOne },
    next,
  );
  const thread = createCompilerThread({
    memoryPages: options.memoryPages,
    onMessage: receive,
    onLost: (message) => lose({ kind: 'stopped', cause: 'other', message }),
  });
  let current: { turn: string; entry: Job } | undefined;
  /** Of the request, of the thread's start, or of its idle time. */
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function next(): void {
    if (current || closed) return;
    current = queue.take();
    if (!current) {
      idle();
      return;
    }
    clearTimeout(timer);
    if (thread.isRunning()) {
      thread.ref();
      dispatch(current.entry);
    } else start(current.entry);
  }

  function start(job: Job): void {
    try {
      thread.start();
    } catch (error) {
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

  function dispatch(job: Job): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const seconds = job.timeoutMs / 1000;
      lose({ kind: 'stopped', cause: 'timeout', message: `it took longer than ${seconds} s` });
    }, job.timeoutMs);
    thread.post(job.request());
  }

  function receive(message: WorkerMessage): void {
    if (message.kind === 'crash') finish({ ...message, kind: 'stopped' });
    else if (message.kind !== 'ready') {
      if (message.kind === 'judged' && message.compiled) current?.entry.keep?.(message.compiled);
      finish(message);
    } else {
      // Starting the worker is part of the stopped request's cost, so the rest begins here.
      queue.restAgain();
      if (current) dispatch(current.entry);
    }
  }

  /** The worker has ended or must end; its pending request is rejected with the reason. */
  function lose(outcome: StoppedOutcome): void {
    clearTimeout(timer);
    thread.drop();
    finish(outcome);
  }

  function finish(outcome: JudgeOutcome): void {
    clearTimeout(timer);
    const done = current;
    current = undefined;
    done?.entry.settle(outcome);
    const isTooSlow = outcome.kind === 'stopped' && outcome.cause === 'timeout';
    if (done && isTooSlow && done.turn !== '') queue.rest(done.turn, done.entry.timeoutMs);
    next();
  }

  /** The thread no longer keeps the process alive, and ends if it stays idle. */
  function idle(): void {
    clearTimeout(timer);
    thread.unref();
    timer = setTimeout(thread.drop, options.idleMs);
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
    isRunning: thread.isRunning,
    async close() {
      closed = true;
      clearTimeout(timer);
      const waiting = [...(current ? [current.entry] : []), ...queue.empty()];
      current = undefined;
      thread.drop();
      for (const job of waiting) job.fail(new AppError('UNAVAILABLE', 'The compiler was closed.'));
      await thread.ended();
    },
  };
}
