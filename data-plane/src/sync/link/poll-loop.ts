/**
 * A long-poll loop: repeats a step until it is stopped, pauses longer and longer while steps fail,
 * and can be kicked to retry at once. It recovers from an outage of any length.
 */
import {
  type BackoffLimits,
  backoff,
  createPause,
  SYNC_BACKOFF,
  WAKE_SPREAD_MS,
} from './backoff.ts';
import { LinkError } from './link-error.ts';

/** A step that found nothing in less than this did not wait as asked: pause instead of spinning. */
const LEAST_WAIT_MS = 100;

/** A longer Retry-After is cut to this: a proxy may have sent it. */
const LONGEST_HOLD_MS = 10_000;

export type PollLoop = ReturnType<typeof startPollLoop>;

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
  /** The backoff for an error; SYNC_BACKOFF for all unless given. */
  limitsOf?: (error: unknown) => BackoffLimits;
  random?: () => number;
}) {
  const random = options.random ?? Math.random;
  const limitsOf = options.limitsOf ?? (() => SYNC_BACKOFF);
  const pause = createPause();
  let round = new AbortController();
  let stopped = false;
  let isHeldOff = false;

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
        const heldOff = holdOffOf(error, random);
        isHeldOff = heldOff > 0;
        await pause.wait(Math.max(heldOff, backoff(failures, limitsOf(error), random)));
        isHeldOff = false;
      }
    }
  }

  const ended = run();
  return {
    /** Ends a running wait and retries at once. */
    kick: (): void => {
      round.abort();
      pause.wake();
    },
    /**
     * Ends a pause at once, unless the control plane asked for it; a step in progress continues.
     */
    hurry: (): void => {
      if (!isHeldOff) pause.wake();
    },
    /**
     * Ends a pause after a failure within a second, since the control plane answers; a step in
     * progress continues, and a Retry-After of the control plane is respected.
     */
    wake: (): void => {
      if (!isHeldOff) pause.shorten(WAKE_SPREAD_MS * random());
    },
    stop: async (): Promise<void> => {
      stopped = true;
      round.abort();
      pause.wake();
      await ended;
    },
  };
}

/** The pause that the control plane asked for, randomly prolonged to spread retries. */
function holdOffOf(error: unknown, random: () => number): number {
  const asked = error instanceof LinkError ? (error.retryAfterMs ?? 0) : 0;
  return Math.min(asked, LONGEST_HOLD_MS) * (1 + random() / 4);
}
