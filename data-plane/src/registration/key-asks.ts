/**
 * New keys are asked for after a signature by an unknown key: at most so often in a minute. More than
 * once, since a key that was just revoked may be revoked again, and no change arrives before that.
 */
const MAX_ASKS = 3;
const SPAN_MS = 60_000;

/**
 * Limits how often the control plane is asked for its keys: whoever can sign something made up must
 * not make this data plane register again and again. Proven by key-asks.test.ts.
 *
 * @param elapsed a monotonic clock, milliseconds
 */
export function createKeyAsks(ask: () => void, elapsed: () => number = () => performance.now()) {
  /** When the last ones were, the oldest first. */
  const asked: number[] = [];
  let later: NodeJS.Timeout | undefined;

  function askNow(): void {
    later = undefined;
    asked.push(elapsed());
    if (asked.length > MAX_ASKS) asked.shift();
    ask();
  }

  return {
    /**
     * A request that comes too soon is postponed, not dropped: the same key may not be reported
     * again.
     */
    request: (): void => {
      if (later) return;
      const [oldest] = asked;
      const isRoom = asked.length < MAX_ASKS || oldest === undefined;
      const waitMs = isRoom ? 0 : oldest + SPAN_MS - elapsed();
      if (waitMs <= 0) askNow();
      else later = setTimeout(askNow, waitMs).unref();
    },
    stop: (): void => clearTimeout(later),
  };
}
