import type { ReportedHealth, ServerReport } from '@governance/shared/channels';

/**
 * What a report may take as JSON. A heartbeat of 16 KiB is the most that a control plane takes, and
 * one that is refused would make its data plane look silent.
 */
const MAX_BYTES = 15_000;
const MAX_SERVERS = 500;

const WORST_FIRST = ['resting', 'failing', 'ok'] as const satisfies ReportedHealth[];

/**
 * Groups servers by how they are, each under the worst that was found. Where they are too many the
 * healthy ones are left out first.
 */
export function toServerReport(
  found: Iterable<readonly [serverId: string, health: ReportedHealth]>,
): ServerReport {
  const report: ServerReport = { resting: [], failing: [], ok: [] };
  const all = [...found];
  const told = new Set<string>();
  let room = MAX_BYTES - Buffer.byteLength(JSON.stringify(report));
  for (const health of WORST_FIRST) {
    const ids = all.filter(([, state]) => state === health).map(([serverId]) => serverId);
    for (const serverId of ids.sort()) {
      if (told.has(serverId)) continue;
      room -= Buffer.byteLength(JSON.stringify(serverId)) + 1;
      if (room < 0 || told.size >= MAX_SERVERS) return report;
      told.add(serverId);
      report[health].push(serverId);
    }
  }
  return report;
}
