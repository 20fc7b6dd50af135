import {
  MAX_SERVER_REASON,
  MAX_SERVER_REASONS,
  type ReportedHealth,
  type ServerReport,
} from '@governance/shared/channels';

/**
 * What a report may take as JSON. A heartbeat of 16 KiB is the most that a control plane takes, and
 * one that is refused would make its data plane look silent. The rest is for what a heartbeat says
 * beside it, signed heads of the admin chain and checkpoints of the log above all.
 */
const MAX_BYTES = 12_000;
/** Of that, what reasons may take from the names of servers that are well. */
const REASON_BYTES = 6_000;
const MAX_SERVERS = 500;

const WORST_FIRST = ['resting', 'failing', 'ok'] as const satisfies ReportedHealth[];

/** How a server was found, and why, where there is something to say. */
export type ServerFinding = readonly [serverId: string, health: ReportedHealth, reason?: string];

/**
 * Groups servers by how they are, each under the worst that was found, with the reasons of the
 * first ones. Where they are too many the healthy ones are left out first.
 */
export function toServerReport(found: Iterable<ServerFinding>): ServerReport {
  const all = worstOfEach(found);
  const { reasons, bytes } = pickReasons(all);
  const report: ServerReport = { resting: [], failing: [], ok: [] };
  if (bytes > 0) report.reasons = reasons;
  let room = MAX_BYTES - bytes - Buffer.byteLength(JSON.stringify({ ...report, reasons: {} }));
  for (const [serverId, { health }] of all.slice(0, MAX_SERVERS)) {
    room -= sizeOf(serverId);
    if (room < 0) break;
    report[health].push(serverId);
  }
  return report;
}

type Worst = { health: ReportedHealth; reason: string | undefined };

function worstOfEach(found: Iterable<ServerFinding>): [serverId: string, Worst][] {
  const rank = (health: ReportedHealth) => WORST_FIRST.indexOf(health);
  const worst = new Map<string, Worst>();
  for (const [serverId, health, reason] of found) {
    const known = worst.get(serverId);
    if (known === undefined || rank(health) < rank(known.health)) {
      worst.set(serverId, { health, reason: reason ?? known?.reason });
    } else known.reason ??= reason;
  }
  return [...worst].sort(
    ([a, one], [b, other]) => rank(one.health) - rank(other.health) || (a < b ? -1 : 1),
  );
}

function pickReasons(all: [serverId: string, Worst][]) {
  const reasons: Record<string, string> = {};
  let bytes = 0;
  let count = 0;
  for (const [serverId, { reason }] of all) {
    if (reason === undefined || count === MAX_SERVER_REASONS) continue;
    const text = toReason(reason);
    const size = sizeOf(serverId) + sizeOf(text);
    if (bytes + size > REASON_BYTES) continue;
    reasons[serverId] = text;
    bytes += size;
    count++;
  }
  return { reasons, bytes };
}

/** A reason as it may travel and be shown: it may hold what a server said. */
function toReason(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_SERVER_REASON)
    .toWellFormed();
}

/** With the comma or colon behind it. */
function sizeOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) + 1;
}
