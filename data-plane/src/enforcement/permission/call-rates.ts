import type { RateLimit } from '@governance/shared/settings/rate-limit-settings';
import type { AgentKey } from '../call/calls.ts';

/**
 * Agents counted at once, about 450 bytes each, so 64 MiB at most. Beyond that, the agent whose
 * window began first is evicted and counts from zero: limits hold while no more agents than these
 * call within one window.
 */
const MAX_AGENTS = 130_000;
/** Idle agents (none of whose calls counts any more) evicted for each new one. */
const FORGOTTEN_AT_ONCE = 2;

/** Divides a second into whole milliseconds. */
const SLOTS = 20;
/** The current slot and all of the window before it. */
const COUNTED_SLOTS = SLOTS + 1;
/** Copied for every agent: a copy has no spare room, and holds small integers without gaps. */
const NO_COUNTS: readonly number[] = Array.from({ length: COUNTED_SLOTS }, () => 0);

/** The counts of one agent. Only small integers, since there may be MAX_AGENTS of them. */
interface Counted {
  slotMs: number;
  /** The index of the slot of the last call. */
  slot: number;
  /** The calls in each counted slot; slot n is at n modulo COUNTED_SLOTS. */
  counts: number[];
  /** The sum of `counts`. */
  total: number;
}

/**
 * Counts calls of agents in a sliding window. The window is divided into slots, and a call counts
 * until all of the window has passed since the end of its slot: in no span of `window_seconds` do
 * more than `requests` calls pass (ADR 108; call-rates.test.ts). It counts at most a twentieth of
 * the window too long.
 *
 * @param elapsed monotonic milliseconds
 */
export function createCallRates(elapsed: () => number, maxAgents = MAX_AGENTS) {
  // In the order in which their windows began.
  const agents = new Map<AgentKey, Counted>();

  function forgetSome(now: number): void {
    let left = FORGOTTEN_AT_ONCE;
    for (const [key, { slot, slotMs }] of agents) {
      if ((slot + COUNTED_SLOTS) * slotMs > now && agents.size < maxAgents) return;
      if (left-- === 0) return;
      agents.delete(key);
    }
  }

  function countedOf(key: AgentKey, slotMs: number, now: number): Counted {
    const slot = Math.floor(now / slotMs);
    const found = agents.get(key);
    if (found?.slotMs === slotMs) {
      if (found.slot === slot) return found;
      if (windowOf(found.slot) !== windowOf(slot)) {
        agents.delete(key);
        agents.set(key, found);
      }
      advance(found, slot);
      return found;
    }
    // Another window length starts from zero: the counts cannot be converted.
    const counted = { slotMs, slot, counts: NO_COUNTS.slice(), total: 0 };
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
      // Whole milliseconds, as the bounds of slots are: the slot is found without rounding.
      const now = Math.floor(elapsed());
      const counted = countedOf(key, window_seconds * (1000 / SLOTS), now);
      if (counted.total >= requests) {
        return Math.ceil((nextAllowedMs(counted, requests) - now) / 1000);
      }
      const at = counted.slot % COUNTED_SLOTS;
      counted.counts[at] = (counted.counts[at] ?? 0) + 1;
      counted.total++;
      return null;
    },
    /** The number of agents counted now. */
    size: () => agents.size,
  };
}

export type CallRates = ReturnType<typeof createCallRates>;

const windowOf = (slot: number) => Math.floor(slot / SLOTS);

/** Moves on to a later slot, where the calls of as many slots no longer count. */
function advance(counted: Counted, slot: number): void {
  const { counts } = counted;
  const last = Math.min(slot, counted.slot + COUNTED_SLOTS);
  for (let passed = counted.slot + 1; passed <= last; passed++) {
    const at = passed % COUNTED_SLOTS;
    counted.total -= counts[at] ?? 0;
    counts[at] = 0;
  }
  counted.slot = slot;
}

/** The beginning of the slot in which the counts leave room for one call. */
function nextAllowedMs({ slotMs, slot, counts, total }: Counted, requests: number): number {
  let next = slot;
  // More than one call may have to go: the limit was lowered.
  for (let left = total; left >= requests; left -= counts[next % COUNTED_SLOTS] ?? 0) next++;
  return next * slotMs;
}
