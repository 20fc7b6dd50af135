import {
  MAX_SERVER_REASON,
  MAX_SERVER_REASONS,
  type ReportedHealth,
  type ServerReport,
} from '@governance/shared/channel/channels';

/**
 * Limit of a report as JSON. A control plane accepts heartbeats of 64 KiB, but earlier versions only
 * 16 KiB, and a refused one would make its data plane look silent. The rest is for the heartbeat's
 * other members, above all signed heads of the admin chain and checkpoints of the log.
 */
const MAX_BYTES = 12_000;
/** Of that, the limit of reasons for healthy servers. */
const REASON_BYTES = 6_000;
const MAX_SERVERS = 500;

const WORST_FIRST = ['resting', 'failing', 'ok'] as const satisfies ReportedHealth[];

/** A server's state, with the reason if there is one. */
export type ServerFinding = readonly [serverId: string, health: ReportedHealth, reason?: string];

/**
 * Groups servers by state, each under the worst one found, with the reasons of the first ones. If
 * there are too many, healthy ones are left out first.
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

/** A reason made safe to send and show: it may contain a server's text. */
function toReason(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_SERVER_REASON)
    .toWellFormed();
}

/** Including the comma or colon behind it. */
function sizeOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) + 1;
}
