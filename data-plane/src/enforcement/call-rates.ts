import type { RateLimit } from '@governance/shared/rate-limit-settings';
import type { AgentKey } from './calls.ts';

/**
 * Agents counted at once, about 200 bytes each. Beyond that, the agent whose window began first is
 * evicted. This weakens no limit: whoever can create so many agents has as many limits anyway.
 */
const MAX_AGENTS = 200_000;
/** Idle agents (two windows without a call) evicted for each new one. */
const FORGOTTEN_AT_ONCE = 2;

/** The counters of one agent. Only numbers, since there may be MAX_AGENTS of them. */
interface Counted {
  windowMs: number;
  /** The index of the current window. */
  window: number;
  current: number;
  previous: number;
}

/**
 * Counts calls of agents in a sliding window, by two counters: calls of the previous window count
 * by the share of it that the sliding window still covers. After a burst at the end of a window,
 * twice the limit less one may pass within a window's length.
 *
 * @param elapsed monotonic milliseconds
 */
export function createCallRates(elapsed: () => number, maxAgents = MAX_AGENTS) {
  // In the order in which their windows began.
  const agents = new Map<AgentKey, Counted>();

  function forgetSome(now: number): void {
    let left = FORGOTTEN_AT_ONCE;
    for (const [key, { window, windowMs }] of agents) {
      if ((window + 2) * windowMs > now && agents.size < maxAgents) return;
      if (left-- === 0) return;
      agents.delete(key);
    }
  }

  function countedOf(key: AgentKey, windowMs: number, now: number): Counted {
    const window = Math.floor(now / windowMs);
    const found = agents.get(key);
    if (found?.windowMs === windowMs && found.window === window) return found;
    // Another window length starts from zero: the counts cannot be converted.
    const isNext = found?.windowMs === windowMs && found.window === window - 1;
    const counted = { windowMs, window, current: 0, previous: isNext ? found.current : 0 };
    agents.delete(key);
    if (found === undefined) forgetSome(now);
    agents.set(key, counted);
    return counted;
  }

  return {
    /**
     * Counts one call if the limit allows it. A refused call does not count, so that an agent that
     * keeps calling gets as many calls as one that waits.
     *
     * @returns null where the call may go on; else the whole seconds until it may, 1 or more
     */
    take(key: AgentKey, { requests, window_seconds }: RateLimit): number | null {
      const now = elapsed();
      const windowMs = window_seconds * 1000;
      const counted = countedOf(key, windowMs, now);
      const into = now - counted.window * windowMs;
      const covered = counted.previous * (1 - into / windowMs);
      if (covered + counted.current + 1 <= requests) {
        counted.current++;
        return null;
      }
      return Math.max(1, Math.ceil(waitMs(counted, requests, into) / 1000));
    },
    /** The number of agents counted now. */
    size: () => agents.size,
  };
}

export type CallRates = ReturnType<typeof createCallRates>;

/** The milliseconds until the counters leave room for one call. */
function waitMs({ windowMs, current, previous }: Counted, requests: number, into: number): number {
  // The largest share of a window with `count` calls that leaves them within `room`.
  const share = (room: number, count: number) => (count === 0 ? 1 : Math.min(1, room / count));
  if (current + 1 <= requests) {
    return windowMs * (1 - share(requests - current - 1, previous)) - into;
  }
  return windowMs - into + windowMs * (1 - share(requests - 1, current));
}
