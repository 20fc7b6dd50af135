/** How far a writer's clock may be ahead of the receipt of its record. */
export const CLOCK_AHEAD_MS = 5 * 60_000;

/**
 * The time by which a data plane's record is listed, in milliseconds: the writer's, or the receipt's
 * where the writer's is impossible. A record from the future would otherwise lead every list.
 */
export function listedTime(writtenAt: number, receivedAt: number): number {
  return isTimeImpossible(writtenAt, receivedAt) ? receivedAt : writtenAt;
}

export function isTimeImpossible(writtenAt: number, receivedAt: number): boolean {
  return writtenAt > receivedAt + CLOCK_AHEAD_MS;
}
