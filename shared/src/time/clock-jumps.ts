/**
 * When a clock that is suddenly far ahead is believed for good. A glitch of a minute must leave
 * nothing behind that counts as newest from then on. Both planes go by it: ADR 24.
 */

/** Corrections of NTP are far smaller. */
export const CLOCK_JUMP_MS = 5 * 60_000;

/** For how long a clock has to show a jump before it is believed. */
export const JUMP_SETTLED_MS = 10 * 60_000;

export type JumpWatch = ReturnType<typeof createJumpWatch>;

/**
 * Tells what a clock that is far ahead has shown for ten minutes: the least of it, since it may be
 * further ahead for a moment when they are over. Proven by clock-jumps.test.ts.
 *
 * @param elapsed a monotonic clock, milliseconds
 */
export function createJumpWatch(elapsed: () => number) {
  let since: number | null = null;
  /** By how much it was ahead of the monotonic clock, at least. */
  let least = 0;
  return {
    isUnderWay: (): boolean => since !== null,
    /** @returns the time that it has shown at least; null until it did so for ten minutes */
    show(time: number): number | null {
      const at = elapsed();
      least = since === null ? time - at : Math.min(least, time - at);
      since ??= at;
      return at - since >= JUMP_SETTLED_MS ? at + least : null;
    },
    /** The time that it has shown at least since the jump began. */
    least: (): number => elapsed() + least,
    end(): void {
      since = null;
    },
  };
}
