/**
 * The age of a tenant's rules and facts, by the newest freshness statement that was verified and
 * whose position in the feed was reached. Two limits: a statement older than three minutes while
 * the control plane answers means that somebody withholds changes; one older than `offline_max_age`
 * means that nothing known here may permit anything any more.
 */
import {
  CLOCK_JUMP_MS,
  createJumpWatch,
  JUMP_SETTLED_MS,
} from '@governance/shared/time/clock-jumps';
import { FeedRefusedError } from '../link/feed-error.ts';
import type { PlaneClock } from './plane-clock.ts';

/** After this time a freeze attack (TUF) is reported. */
export const FREEZE_AFTER_MS = 3 * 60_000;

/** By how much statements have advanced when they have been ahead for ten minutes. */
const ADVANCED_MS = JUMP_SETTLED_MS - 60_000;

export const DEFAULT_OFFLINE_MAX_AGE_SECONDS = 86_400;

export interface FreshnessStatus {
  state: 'fresh' | 'stale' | 'never';
  statement_time: string | null;
  age_seconds: number | null;
}

export type Freshness = ReturnType<typeof createFreshness>;

/**
 * @param options.keptMs the newest time known from before, 0 for none
 * @param options.keptGeneration that of the control plane's clock which signed it, 0 for none
 * @param options.keepGeneration keeps a later one with the newest time that counts from then on,
 *   durably and both or neither
 * @param options.onFrozen called once each time that changes begin to be withheld
 */
export function createFreshness(options: {
  clock: PlaneClock;
  maxAgeMs: number;
  keptMs: number;
  keptGeneration?: number;
  keepGeneration?: (generation: number, newestMs: number) => void;
  onFrozen: (ageSeconds: number) => void;
}) {
  const { clock, maxAgeMs } = options;
  /** The newest whose position in the feed was reached; the age counts from it. */
  let newest = options.keptMs;
  /** The newest that was verified at all. */
  let verified = options.keptMs;
  /** Verified, but entries before its position have not arrived yet. */
  let awaiting: { time: number; feedSeq: number } | null = null;
  let isFrozen = false;
  /** Statements are far ahead of the plane's clock. */
  const jump = createJumpWatch(() => Math.floor(clock.settled()));
  /** The earliest of them. */
  let earliest = 0;
  /** The furthest ahead of them, and the time that it counts as. */
  let furthest = { time: 0, as: 0 };
  /** What the newest one says, where the machine's clock agrees that it is that late. */
  let agreed: number | null = null;
  let generation = options.keptGeneration ?? 0;
  /** The clock's shift that the times here have followed, and that when a statement was believed. */
  let followed = clock.shift();
  let believedAt = followed;
  if (newest > 0) clock.resume(newest);

  /**
   * A time far ahead of the clock was kept while that was ahead, and another tenant's statement has
   * put it right since: how old it is nobody knows, so it is as old as can be.
   */
  function age(): number {
    const time = clock.read();
    const since = time - findNewest();
    return since < -CLOCK_JUMP_MS ? time : since;
  }

  /** Another tenant's statement may have moved the clock that all share: ages stay what they were. */
  function follow(): void {
    const moved = clock.shift() - followed;
    if (moved === 0) return;
    followed += moved;
    if (newest > 0) newest = Math.max(1, newest + moved);
    if (awaiting) awaiting.time += moved;
    forgetAhead();
  }

  function forgetAhead(): void {
    jump.end();
    furthest = { time: 0, as: 0 };
    agreed = null;
  }

  function begin(later: number, time: number): void {
    const base = clock.baseFor(time);
    const old = newest > 0 ? Math.max(1, Math.floor(base - Math.max(0, age()))) : 0;
    options.keepGeneration?.(later, old);
    generation = later;
    clock.rebase(time, base);
    followed = clock.shift();
    newest = old;
    verified = 0;
    awaiting = null;
    forgetAhead();
  }

  /** While both clocks are ahead the age is by what they show; if they stay there, it was right. */
  function findNewest(): number {
    follow();
    if (agreed === null || clock.isAhead()) return agreed ?? newest;
    if (agreed - clock.settled() <= CLOCK_JUMP_MS) newest = Math.max(newest, agreed);
    agreed = null;
    return newest;
  }

  function adopt(time: number): number | null {
    const isOfBoth = time === furthest.as && furthest.time - clock.read() <= CLOCK_JUMP_MS;
    if (isOfBoth && clock.isAhead()) agreed = furthest.time;
    if (time <= newest) return null;
    newest = time;
    return time;
  }

  return {
    /**
     * Takes the generation of the clock that dated a verified statement. A later one lets go of what
     * was signed by the clocks before; of these nothing counts from then on.
     *
     * @param time what the statement says
     * @returns whether a later one begins
     * @throws FeedRefusedError statement_stale for an earlier one
     */
    enter: (stated: number, time: number): boolean => {
      if (stated < generation) {
        const what = `a statement of the clock ${stated} came after one of ${generation}`;
        throw new FeedRefusedError('statement_stale', what);
      }
      if (stated === generation) return false;
      begin(stated, time);
      return true;
    },
    /**
     * The time of a verified statement as it counts here. A control plane whose clock jumped ahead
     * for a moment, alone or together with this machine's, must not make all of its later statements
     * look replayed: so one that is far ahead counts as one of now, and the same one again no longer
     * than that.
     */
    believe: (time: number): number => {
      follow();
      believedAt = followed;
      const now = Math.floor(clock.settled());
      if (time - now <= CLOCK_JUMP_MS) {
        jump.end();
        return time;
      }
      earliest = jump.isUnderWay() ? Math.min(earliest, time) : time;
      const shown = jump.show(time);
      // One that is repeated for ten minutes says nothing of what the control plane's clock shows now.
      if (shown !== null && shown - earliest >= ADVANCED_MS) {
        if (time - shown <= CLOCK_JUMP_MS) return time;
        jump.end();
        return shown;
      }
      if (time > furthest.time) furthest = { time, as: now };
      return furthest.as;
    },
    /** @throws FeedRefusedError statement_stale when an older one is replayed */
    check: (time: number): void => {
      if (time < verified - FREEZE_AFTER_MS) {
        const than = new Date(verified).toISOString();
        throw new FeedRefusedError(
          'statement_stale',
          `a statement of ${new Date(time).toISOString()} came after one of ${than}`,
        );
      }
    },
    /**
     * Takes the time of a verified statement. It counts once everything up to its position was
     * applied.
     *
     * @param feedSeq the place that it speaks of
     * @param cursor where the feed was read up to
     * @param counted the time up to which it counts for this data plane
     * @returns the time to keep durably, null where it is no news
     */
    verified: (
      stated: number,
      feedSeq: number,
      cursor: number,
      countedAs = stated,
    ): number | null => {
      follow();
      const time = stated + followed - believedAt;
      const counted = countedAs + followed - believedAt;
      if (time > verified) {
        // One that is far ahead agrees with no clock, but counts as of now.
        if (time !== furthest.as) clock.confirm(time);
        clock.note(time);
        verified = time;
      }
      if (feedSeq <= cursor) {
        awaiting = null;
        return adopt(counted);
      }
      // The first of the waiting ones is kept: newer ones may always stay ahead of the reader.
      const reached = awaiting && awaiting.feedSeq <= cursor ? awaiting.time : null;
      if (!awaiting || reached !== null) awaiting = { time: counted, feedSeq };
      return reached === null ? null : adopt(reached);
    },
    /** Called after each answer of the control plane: detects whether changes are withheld. */
    answered: (): void => {
      const frozen = age() > FREEZE_AFTER_MS;
      if (frozen && !isFrozen) options.onFrozen(Math.round(age() / 1000));
      isFrozen = frozen;
    },
    /** Why all calls are denied; null while the rules are fresh. Cheap: asked at every call. */
    findDenial: (): string | null => {
      if (newest === 0) return 'No statement of the control plane was verified yet.';
      if (age() <= maxAgeMs) return null;
      return `The control plane was last heard of at ${new Date(newest).toISOString()}: its rules are too old.`;
    },
    status: (): FreshnessStatus => {
      if (newest === 0) return { state: 'never', statement_time: null, age_seconds: null };
      const old = age();
      return {
        state: old > FREEZE_AFTER_MS ? 'stale' : 'fresh',
        statement_time: new Date(newest).toISOString(),
        age_seconds: Math.max(0, Math.round(old / 1000)),
      };
    },
  };
}
