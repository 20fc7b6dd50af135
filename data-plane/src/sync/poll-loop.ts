/**
 * A long-poll loop: runs a step again and again until it is stopped, pauses longer and longer
 * while steps fail, and can be kicked to try at once. An outage of any length ends by itself.
 */
import { backoff, createPause, SYNC_BACKOFF } from './backoff.ts';

/** A step that found nothing sooner than this did not wait as asked: do not spin. */
const LEAST_WAIT_MS = 100;

export interface PollLoop {
  /** Ends a running wait and tries at once. */
  kick(): void;
  stop(): Promise<void>;
}

/**
 * One round.
 *
 * @returns whether it found something new
 * @throws when the round failed; an abort by `signal` is no failure
 */
export type PollStep = (signal: AbortSignal) => Promise<boolean>;

export function startPollLoop(options: {
  step: PollStep;
  onFailure: (error: unknown, attempt: number) => void;
  backoffLimits?: { first: number; longest: number };
}): PollLoop {
  const limits = options.backoffLimits ?? SYNC_BACKOFF;
  const pause = createPause();
  let round = new AbortController();
  let stopped = false;

  async function run(): Promise<void> {
    let failures = 0;
    while (!stopped) {
      round = new AbortController();
      const started = performance.now();
      try {
        const found = await options.step(round.signal);
        failures = 0;
        const waited = performance.now() - started >= LEAST_WAIT_MS;
        if (!found && !waited && !round.signal.aborted) await pause.wait(LEAST_WAIT_MS);
      } catch (error) {
        if (round.signal.aborted) continue;
        failures++;
        options.onFailure(error, failures);
        await pause.wait(backoff(failures, limits));
      }
    }
  }

  const ended = run();
  return {
    kick: () => {
      round.abort();
      pause.wake();
    },
    stop: async () => {
      stopped = true;
      round.abort();
      pause.wake();
      await ended;
    },
  };
}
