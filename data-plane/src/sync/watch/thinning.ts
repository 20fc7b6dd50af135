/**
 * Which checkpoints may be dropped: the newest stay dense, older ones are thinned to one an hour,
 * then one a day, and their number is bounded in any case. Proven by thinning.test.ts.
 */
import { HOUR_MS } from '@governance/shared/time/durations';

/** In the order in which they were seen. */
export interface KeptAt {
  id: number;
  seenAt: number;
  /** Never dropped: the largest of its line. */
  isHighest: boolean;
}

/** Checkpoints of a tenant, at most. */
export const MAX_KEPT_CHECKPOINTS = 1_000;
/** The newest stay regardless of age. */
export const DENSE = 100;
const HOURLY_FOR_MS = 7 * 24 * HOUR_MS;

/**
 * @param kept in the order in which they were seen
 * @returns the ids to drop
 */
export function findThinned(kept: readonly KeptAt[], now: number): number[] {
  const older = kept.slice(0, Math.max(0, kept.length - DENSE));
  const dropped = new Set<number>();
  let last: number | undefined;
  for (const { id, seenAt, isHighest } of older) {
    const span = now - seenAt > HOURLY_FOR_MS ? 24 * HOUR_MS : HOUR_MS;
    const slot = Math.floor(seenAt / span) * span;
    // The first of each hour or day stays, so that thinning again changes nothing.
    if (slot === last && !isHighest) dropped.add(id);
    else last = slot;
  }
  const left = older.filter(({ id }) => !dropped.has(id));
  const excess = kept.length - dropped.size - MAX_KEPT_CHECKPOINTS;
  // Then the second oldest goes first, since the oldest reaches back furthest.
  const goners = [...left.slice(1), ...left.slice(0, 1)];
  for (const { id } of goners.slice(0, Math.max(0, excess))) dropped.add(id);
  return [...dropped];
}
