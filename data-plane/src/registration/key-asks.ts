/** At most this often new keys are asked for after a signature by an unknown key. */
const KEYS_ASK_MS = 60_000;

/**
 * Limits how often the control plane is asked for its keys: whoever can sign something made up must
 * not make this data plane register again and again. Proven by key-asks.test.ts.
 */
export function createKeyAsks(ask: () => void, now: () => number) {
  let askedAt = Number.NEGATIVE_INFINITY;
  let later: NodeJS.Timeout | undefined;

  function askNow(): void {
    later = undefined;
    askedAt = now();
    ask();
  }

  return {
    /**
     * A request that comes too soon is postponed, not dropped: the same key may not be reported
     * again.
     */
    request: (): void => {
      if (later) return;
      const waitMs = askedAt + KEYS_ASK_MS - now();
      if (waitMs <= 0) askNow();
      else later = setTimeout(askNow, Math.min(waitMs, KEYS_ASK_MS)).unref();
    },
    stop: (): void => clearTimeout(later),
  };
}
