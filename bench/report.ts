import { findGoals, goalsTable } from './goals.ts';
import type { Measurement, Row, TargetName } from './measurement.ts';

export interface Setting {
  fdatasync_p50_ms: number;
  rounds: number;
  seconds: number;
  /** Calls per measurement; null when measurements run for a time. */
  calls: number | null;
  node: string;
  cpu: string;
  cores: number;
  kernel: string;
  pinned: boolean;
}

/** Medians over the rounds, as tables for people and a document for machines. */
export function report(measurements: Measurement[], setting: Setting) {
  const rows: Row[] = groups(measurements).map(({ target, connections, all }) => ({
    target,
    connections,
    requests_per_second: median(all.map((m) => m.requests_per_second)),
    p50_ms: median(all.map((m) => m.p50_ms)),
    p99_ms: median(all.map((m) => m.p99_ms)),
    cpu_us_per_call: medianOf(all, 'cpu_us_per_call'),
    rss_mib: medianOf(all, 'rss_mib'),
    rss_above_idle_mib: medianOf(all, 'rss_above_idle_mib'),
  }));
  const find = (target: TargetName, connections: number) =>
    rows.find((row) => row.target === target && row.connections === connections);
  const ratios = [...new Set(rows.map((row) => row.connections))].map((connections) => {
    const governed = find('governed', connections);
    const off = find('gateway without enforcement', connections);
    const raw = find('raw undici', connections);
    return {
      connections,
      governed_to_raw_undici: ratio(governed?.requests_per_second, raw?.requests_per_second),
      governed_to_enforcement_off: ratio(governed?.requests_per_second, off?.requests_per_second),
      cpu_us_above_enforcement_off:
        governed?.cpu_us_per_call != null && off?.cpu_us_per_call != null
          ? governed.cpu_us_per_call - off.cpu_us_per_call
          : null,
      added_p50_ms: governed && off ? governed.p50_ms - off.p50_ms : null,
    };
  });
  const goals = findGoals(rows, setting.fdatasync_p50_ms);
  const markdown = [
    `${setting.cpu}, ${setting.cores} cores${setting.pinned ? ' (load and server on one, proxy on the other)' : ''}, Node ${setting.node}, ${setting.rounds} rounds of ${setting.calls === null ? `${setting.seconds} s` : `${setting.calls} calls`}, fdatasync p50 ${setting.fdatasync_p50_ms.toFixed(2)} ms`,
    '',
    '| target | connections | requests/s | p50 ms | p99 ms | CPU µs a call | RSS MiB | above idle |',
    '|---|---:|---:|---:|---:|---:|---:|---:|',
    ...rows.map(
      (row) =>
        `| ${row.target} | ${row.connections} | ${row.requests_per_second.toFixed(0)} | ${row.p50_ms.toFixed(2)} | ${row.p99_ms.toFixed(2)} | ${row.cpu_us_per_call?.toFixed(0) ?? ''} | ${row.rss_mib?.toFixed(0) ?? ''} | ${row.rss_above_idle_mib?.toFixed(0) ?? ''} |`,
    ),
    '',
    '| connections | governed / raw undici | governed / without enforcement | CPU µs above without enforcement | p50 ms added |',
    '|---:|---:|---:|---:|---:|',
    ...ratios.map(
      (each) =>
        `| ${each.connections} | ${each.governed_to_raw_undici?.toFixed(2) ?? ''} | ${each.governed_to_enforcement_off?.toFixed(2) ?? ''} | ${each.cpu_us_above_enforcement_off?.toFixed(0) ?? ''} | ${each.added_p50_ms?.toFixed(2) ?? ''} |`,
    ),
    '',
    goalsTable(goals),
  ].join('\n');
  return { markdown, json: { setting, rows, ratios, goals, measurements } };
}

function groups(measurements: Measurement[]) {
  const byKey = new Map<string, Measurement[]>();
  for (const each of measurements) {
    const key = `${String(each.connections).padStart(5)} ${each.target}`;
    byKey.set(key, [...(byKey.get(key) ?? []), each]);
  }
  return [...byKey.values()].map((all) => ({
    target: (all[0] as Measurement).target,
    connections: (all[0] as Measurement).connections,
    all,
  }));
}

/** The median; 0 for an empty list. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

/** Null for a target without a process of its own. */
function medianOf(
  all: readonly Measurement[],
  figure: 'cpu_us_per_call' | 'rss_mib' | 'rss_above_idle_mib',
): number | null {
  const values = all.flatMap((each) => each[figure] ?? []);
  return values.length === 0 ? null : median(values);
}

function ratio(a: number | undefined, b: number | undefined): number | null {
  return a === undefined || b === undefined ? null : a / b;
}
