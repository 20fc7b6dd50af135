/** The measurements as tables. */
import type { EnforcedRow } from './enforced.ts';
import { SPREAD_HEAD, spreadCells } from './figures.ts';
import type { IdleRow, ReceivedRow } from './received.ts';

interface Run {
  trials: number;
  processes: number;
  load_average: number[];
}

export function enforcedTable(
  measured: Run & { planes: number; confirmed: number; rows: EnforcedRow[] },
): string {
  const { planes, trials, processes, confirmed, load_average: load, rows } = measured;
  return [
    `${planes} connected data planes in ${processes} processes, ${trials} trials, load average ${load.join(' to ')}; milliseconds from the administrator's request until enforced`,
    '',
    `| change | each plane: ${SPREAD_HEAD} | last plane: ${SPREAD_HEAD} | the request: ${SPREAD_HEAD} | CPU ms of a plane | CPU ms of the control plane |`,
    `|---|${'---:|'.repeat(14)}`,
    ...rows.map(
      ({ change, plane, last, request, planeCpuMs, controlPlaneCpuMs }) =>
        `| ${change} | ${spreadCells(plane)} | ${spreadCells(last)} | ${spreadCells(request)} | ${planeCpuMs} | ${controlPlaneCpuMs} |`,
    ),
    '',
    `${confirmed} decisions were asked for by a real call, too`,
  ].join('\n');
}

export function receivedTables(
  measured: Run & { readers: number; rows: ReceivedRow[]; idle: IdleRow[] },
): string {
  const { readers, trials, processes, load_average: load, rows, idle } = measured;
  const times = rows.flatMap(({ readers: count, change, feed, bundle, request }) => [
    { count, what: `${change}: feed page`, ...feed, request },
    ...(bundle ? [{ count, what: `${change}: bundle`, ...bundle, request }] : []),
  ]);
  const tables = [...new Set(rows.flatMap(({ cost }) => Object.keys(cost.scans)))].sort();
  const counters = (name: string, each: ReceivedRow['cost']) =>
    `| ${name} | ${each.transactions} | ${each.bundleBuilds} | ${each.rowsWritten} | ${each.cpuSeconds} | ${tables.map((table) => each.scans[table] ?? 0).join(' | ')} |`;
  return [
    `${readers} simulated data planes in ${processes} processes, ${trials} trials, load average ${load.join(' to ')}; milliseconds from the administrator's request until received`,
    '',
    `| readers | change | each reader: ${SPREAD_HEAD} | last reader: ${SPREAD_HEAD} | the request: ${SPREAD_HEAD} |`,
    `|---:|---|${'---:|'.repeat(12)}`,
    ...times.map(
      ({ count, what, reader, last, request }) =>
        `| ${count} | ${what} | ${spreadCells(reader)} | ${spreadCells(last)} | ${spreadCells(request)} |`,
    ),
    '',
    `| cost | transactions | bundle builds | rows written | CPU s of the control plane | ${tables.map((table) => `scans of ${table}`).join(' | ')} |`,
    `|---|${'---:|'.repeat(4 + tables.length)}`,
    ...idle.map(({ readers: count, residentMiB, rates }) =>
      counters(`${count} readers, idle, a second (${residentMiB} MiB)`, rates),
    ),
    ...rows.map(({ readers: count, change, cost, seconds }) =>
      counters(`${count} readers, ${change}, a change (in ${seconds} s)`, cost),
    ),
  ].join('\n');
}
