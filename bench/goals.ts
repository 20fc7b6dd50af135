/** The cost limits of a whole data plane, compared with one run's medians. */
import type { Row, TargetName } from './measurement.ts';

export interface Goal {
  what: string;
  value: number;
  /** Met when the value is no more than this, or no less where `atLeast`. */
  limit: number;
  atLeast: boolean;
  /** The target of the next step, if it is known. */
  direction: number | null;
}

/** CPU time of a call as a multiple of raw undici's, for connections without a measurable peer. */
const RAW_MULTIPLES = [
  [16, 4],
  [256, 3],
] as const;

/** @returns the goals whose targets were measured */
export function findGoals(rows: readonly Row[], fdatasyncP50Ms: number): Goal[] {
  const find = (target: TargetName, connections: number) =>
    rows.find((row) => row.target === target && row.connections === connections);
  const goals: Goal[] = [];
  const add = (
    what: string,
    value: number | null | undefined,
    limit: number,
    more: { atLeast?: boolean; direction?: number } = {},
  ) => {
    if (value === null || value === undefined || Number.isNaN(value)) return;
    const { atLeast = false, direction = null } = more;
    goals.push({ what, value, limit, atLeast, direction });
  };
  const whole = (connections: number) => find('data plane that ships', connections);
  const cpu = (target: TargetName, connections: number) =>
    (whole(connections)?.cpu_us_per_call ?? Number.NaN) /
    (find(target, connections)?.cpu_us_per_call ?? Number.NaN);

  for (const [connections, multiple] of RAW_MULTIPLES) {
    const peer = cpu('mcp-proxy (Rust)', connections);
    add(`CPU a call / mcp-proxy's, ${connections} connections`, peer, 1);
    const raw = cpu('raw undici', connections);
    add(`CPU a call / raw undici's, ${connections} connections`, raw, multiple);
  }
  const [many, manyRaw] = [whole(256), find('raw undici', 256)];
  if (many && manyRaw) {
    const rate = many.requests_per_second / manyRaw.requests_per_second;
    add("requests/s / raw undici's, 256 connections", rate, 0.35, {
      atLeast: true,
      direction: 0.65,
    });
  }
  const [one, oneRaw] = [whole(1), find('raw undici', 1)];
  if (one && oneRaw) {
    const added = one.p50_ms - oneRaw.p50_ms;
    add('p50 ms above raw undici, 1 connection', added, fdatasyncP50Ms + 0.7);
  }
  const above = rows
    .filter(({ target }) => target === 'data plane that ships')
    .map((row) => row.rss_above_idle_mib ?? Number.NaN);
  if (above.length > 0) {
    add('memory above idle under load, MiB', Math.max(...above), 200, { direction: 85 });
  }
  return goals;
}

export function isMet({ value, limit, atLeast }: Goal): boolean {
  return atLeast ? value >= limit : value <= limit;
}

export function goalsTable(goals: readonly Goal[]): string {
  if (goals.length === 0) return '';
  return [
    '| goal of the whole data plane | limit | value | |',
    '|---|---:|---:|---|',
    ...goals.map((goal) => {
      const { what, value, limit, atLeast, direction } = goal;
      const towards = direction === null ? '' : ` (direction: ${direction})`;
      const bound = `${atLeast ? '≥' : '≤'} ${round(limit)}${towards}`;
      return `| ${what} | ${bound} | ${round(value)} | ${isMet(goal) ? 'met' : 'missed'} |`;
    }),
  ].join('\n');
}

function round(value: number): string {
  return value >= 20 ? value.toFixed(0) : String(Number(value.toFixed(2)));
}
