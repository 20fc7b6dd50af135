/** One clock for all processes of the bench, and summaries of a set of times. */

/**
 * Milliseconds of the system's monotonic clock, which all processes of a machine share: times of
 * different processes can be subtracted.
 */
export function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export interface Spread {
  count: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

/** In milliseconds, to one decimal. */
export function spread(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    tenth(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
  return { count: sorted.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

export function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}

export const SPREAD_HEAD = 'p50 | p90 | p99 | max';

export function spreadCells({ p50, p90, p99, max }: Spread): string {
  return [p50, p90, p99, max].map((value) => value.toFixed(1)).join(' | ');
}
