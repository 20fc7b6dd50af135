import { describe, expect, it } from 'vitest';
import type { Measurement } from '../measurement.ts';
import { compareBuilds, comparisonTable, spreadOf } from './figures.ts';

const measured = (perSecond: number[], cpu: (number | null)[] = perSecond.map(() => 100)) =>
  perSecond.map(
    (requests_per_second, i): Measurement => ({
      target: 'governed',
      connections: 16,
      round: i + 1,
      requests_per_second,
      mean_ms: 1,
      p50_ms: 1,
      p99_ms: 1,
      cpu_us_per_call: cpu[i] ?? null,
      rss_mib: 100,
      rss_above_idle_mib: 10,
    }),
  );

describe('the verdict', () => {
  const BEFORE = [1_000, 1_010, 990, 1_005, 995];
  it.each([
    ['the same', BEFORE, 'within'],
    ['less by 5 %', [950, 960, 940, 955, 945], 'within'],
    ['less by 5 % beyond the spread', [930, 935, 925, 932, 928], 'falls'],
    ['less by far, and as uncertain', [1_000, 700, 400, 1_200, 650], 'within'],
    ['less by far', [500, 510, 490, 505, 495], 'falls'],
    ['more by far', [1_500, 1_510, 1_490, 1_505, 1_495], 'rises'],
  ])('on calls a second: %s', (_what, now, verdict) => {
    const [first] = compareBuilds({ before: measured(BEFORE), now: measured(now) });
    expect(first).toMatchObject({ connections: 16, metric: 'requests/s', verdict });
  });

  it.each([
    ['more', [120, 121, 119, 122, 118], 'falls'],
    ['a little more', [104, 105, 103, 104, 104], 'within'],
    ['less', [80, 81, 79, 82, 78], 'rises'],
  ])('on CPU a call: %s', (_what, cpu, verdict) => {
    const before = measured(BEFORE, [100, 101, 99, 100, 100]);
    const [, second] = compareBuilds({ before, now: measured(BEFORE, cpu) });
    expect(second).toMatchObject({ metric: 'CPU µs a call', verdict });
  });
});

it('gives median, spread and ratio', () => {
  expect(spreadOf([5, 1, 3, 2, 100])).toEqual({ median: 3, mad: 2, least: 1, most: 100 });
  const comparisons = compareBuilds({
    before: measured([10, 20, 30]),
    now: measured([40, 40, 40]),
  });
  expect(comparisonTable(comparisons)).toContain(
    '| 16 | requests/s | 20 ± 10 (10–30) | 40 ± 0 (40–40) | 2.000 | better |',
  );
});

it('does not compare what it could not measure', () => {
  const without = measured([1], [null]);
  expect(() => compareBuilds({ before: without, now: without })).toThrow('CPU time');
});
