/**
 * Which key of a purpose signs at a time. That time may run back: after a glitch of the clock, or by
 * accept-clock. So a key's place among the others counts, and no key is waited for where none that
 * has begun may sign. Proven by key-clocks.pg.test.ts; why: ADR 114.
 */

/** The times of a key. */
export interface DatedLife {
  from: Date;
  /** Null while it has no successor. */
  to: Date | null;
  revokedAt: Date | null;
}

/** Those that may sign now or later. */
export const listLiving = <K extends DatedLife>(keys: readonly K[], at: Date): K[] =>
  keys.filter(({ to, revokedAt }) => revokedAt === null && (to === null || to > at));

/**
 * The newest key that has begun and not ended. If there is none, the one that is to end first: the
 * key before it was revoked, or began while the clock was ahead.
 */
export function chooseSigning<K extends DatedLife>(keys: readonly K[], at: Date): K | undefined {
  const living = listLiving(keys, at).sort((a, b) => a.from.getTime() - b.from.getTime());
  const begun = living.findLast(({ from }) => from <= at);
  return begun ?? living.sort((a, b) => endOf(a) - endOf(b))[0];
}

/** Whether it ended before it was to begin: another took its place once the clock was right. */
export const isSuperseded = ({ from, to }: DatedLife): boolean => to !== null && to <= from;

const endOf = ({ to }: DatedLife): number => to?.getTime() ?? Number.MAX_VALUE;
