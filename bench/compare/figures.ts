/** Compares the measurements of two builds. */
import type { Measurement } from '../measurement.ts';
import { median } from '../report.ts';

export type BuildName = 'before' | 'now';

export interface Spread {
  median: number;
  /** Median absolute deviation. */
  mad: number;
  least: number;
  most: number;
}

export type Verdict = 'falls' | 'rises' | 'within';

export interface Comparison {
  connections: number;
  metric: 'requests/s' | 'CPU µs a call';
  before: Spread;
  now: Spread;
  /** The ratio of the medians, now to before. */
  ratio: number;
  /** `falls` is worse, `rises` better. */
  verdict: Verdict;
}

/** How far apart the medians must be, beyond the spread of both builds. */
const TOLERANCE = 0.05;

export function spreadOf(values: readonly number[]): Spread {
  const middle = median([...values]);
  return {
    median: middle,
    mad: median(values.map((value) => Math.abs(value - middle))),
    least: Math.min(...values),
    most: Math.max(...values),
  };
}

/**
 * Compares the builds at each number of connections.
 *
 * @throws Error if a measurement has no CPU time, as on systems without /proc
 */
export function compareBuilds(measured: Record<BuildName, readonly Measurement[]>): Comparison[] {
  const connections = [...new Set(measured.now.map((one) => one.connections))];
  return connections.flatMap((count) => {
    const valuesOf = (build: BuildName, value: (one: Measurement) => number) =>
      spreadOf(measured[build].filter((one) => one.connections === count).map(value));
    const throughput = (one: Measurement) => one.requests_per_second;
    return [
      compare(count, 'requests/s', valuesOf('before', throughput), valuesOf('now', throughput)),
      compare(count, 'CPU µs a call', valuesOf('before', cpuOf), valuesOf('now', cpuOf)),
    ];
  });
}

function cpuOf({ cpu_us_per_call }: Measurement): number {
  if (cpu_us_per_call === null) throw new Error('the CPU time of a process cannot be read here');
  return cpu_us_per_call;
}

function compare(
  connections: number,
  metric: Comparison['metric'],
  before: Spread,
  now: Spread,
): Comparison {
  const isMoreBetter = metric === 'requests/s';
  const [lower, higher] = [isBeyond(now, before), isBeyond(before, now)];
  const verdict = higher === lower ? 'within' : higher === isMoreBetter ? 'rises' : 'falls';
  return { connections, metric, before, now, ratio: now.median / before.median, verdict };
}

/**
 * Whether `low` is below `high` by more than the tolerance, even with each moved towards the other
 * by its deviation.
 */
function isBeyond(low: Spread, high: Spread): boolean {
  return low.median + low.mad < (high.median - high.mad) * (1 - TOLERANCE);
}

const VERDICTS: Record<Verdict, string> = {
  falls: '**falls**',
  rises: 'better',
  within: 'within 5 % and spread',
};

/** As a table for people. */
export function comparisonTable(comparisons: readonly Comparison[]): string {
  const digits = (metric: Comparison['metric']) => (metric === 'requests/s' ? 0 : 1);
  return [
    '| connections | | before: median ± MAD (min–max) | now | now / before | |',
    '|---:|---|---:|---:|---:|---|',
    ...comparisons.map(({ connections, metric, before, now, ratio, verdict }) => {
      const cells = [before, now].map((one) => spreadText(one, digits(metric)));
      return `| ${connections} | ${metric} | ${cells.join(' | ')} | ${ratio.toFixed(3)} | ${VERDICTS[verdict]} |`;
    }),
  ].join('\n');
}

function spreadText({ median: middle, mad, least, most }: Spread, digits: number): string {
  const [m, d, from, to] = [middle, mad, least, most].map((value) => value.toFixed(digits));
  return `${m} ± ${d} (${from}–${to})`;
}
