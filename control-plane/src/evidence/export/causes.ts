/**
 * The records that decisions refer to and that the volume may lack: the approval of a call or the
 * release of its result, and the delegations under which it was made. Each is a record of the admin
 * chain, included with its proofs.
 */
import { MAX_WORKFLOW_DEPTH } from '@governance/shared/channel/facts';
import { readRecord } from '../../chain/ledger-row.ts';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';

/** The records to which a volume's decisions refer. */
export interface NamedCauses {
  grants: Set<string>;
  delegations: Set<string>;
}

export interface Cause {
  record: string;
  leaf: number;
  /** In its batch. */
  index: number;
}

/** The record is written in the row's transaction, but its time may come from another clock. */
const AROUND_MS = 5 * 60_000;

/** How many are looked for, and read, in one statement. */
const PAGE_CAUSES = 5_000;

interface Wanted {
  action: string;
  target: string;
  at: Date;
}

interface Approved {
  id: string;
  at: Date;
  held: string;
  /** How a result was released: as it came, or sanitized. Null for a call. */
  release: string | null;
}

interface Place {
  epoch: number;
  seq: bigint;
}

/**
 * Whether one of these records may name a cause. Few do, and only those are parsed.
 *
 * @param text the lines of records
 */
export const mayNameCauses = (text: string): boolean =>
  text.includes('"grant_id":"') || text.includes('"delegation_chain":["');

/**
 * Collects the approval or release, and the delegations, that a record refers to: no more than a
 * chain that was issued can have. A longer one has a fault, whatever its end names.
 */
export function noteCauses({ grants, delegations }: NamedCauses, text: string): void {
  if (!mayNameCauses(text)) return;
  const decision = readRecord(Buffer.from(text));
  if (decision?.type !== 'decision') return;
  for (const id of decision.delegation_chain.slice(0, MAX_WORKFLOW_DEPTH)) delegations.add(id);
  if (decision.v === 2 && decision.grant_id !== null) grants.add(decision.grant_id);
}

/**
 * @param size the log's size: later records cannot be proven
 * @returns the causes, by leaf, then place in it; references that a data plane invented are not
 * found
 */
export async function findCauses(
  tx: TenantTransaction,
  named: NamedCauses,
  size: number,
): Promise<Cause[]> {
  const wanted = await listWanted(tx, named);
  const causes: Cause[] = [];
  for (let at = 0; at < wanted.length; at += PAGE_CAUSES) {
    const places = await findPlaces(tx, wanted.slice(at, at + PAGE_CAUSES));
    causes.push(...(await readCauses(tx, places, size)));
  }
  return causes.sort((a, b) => a.leaf - b.leaf || a.index - b.index);
}

/** @returns them by time, so that those of a page lie close together */
async function listWanted(
  { db, scope: { tenantId } }: TenantTransaction,
  { grants, delegations }: NamedCauses,
): Promise<Wanted[]> {
  // One parameter each, as where ingest looks them up.
  const approved = await db.$queryRaw<Approved[]>`
    SELECT id, resolved_at AS at, held, release FROM escalations
    WHERE tenant_id = ${tenantId}::uuid AND grant_id = ANY(${[...grants]}::uuid[])
      AND resolved_at IS NOT NULL`;
  const issued = await db.$queryRaw<{ id: string; at: Date }[]>`
    SELECT id, created_at AS at FROM delegations
    WHERE tenant_id = ${tenantId}::uuid AND id = ANY(${[...delegations]}::uuid[])`;
  return [
    ...approved.map(({ id, at, held, release }) => ({
      ...(held === 'result'
        ? { action: `inbound_hold_allowed_${release}`, target: `inbound_hold/${id}` }
        : { action: 'escalation_approved', target: `escalation/${id}` }),
      at,
    })),
    ...issued.map(({ id, at }) => ({
      ...{ action: 'delegation_issued', target: `delegation/${id}`, at },
    })),
  ].sort((a, b) => a.at.getTime() - b.at.getTime());
}

/**
 * Reads the actions of the wanted ones' times once, however many are wanted. In canonical JSON
 * `action` is an action's first member, and `target` the last one of its name.
 */
async function findPlaces(
  { db, scope: { tenantId } }: TenantTransaction,
  wanted: readonly Wanted[],
): Promise<Place[]> {
  const windows = windowsOf(wanted);
  const rows = await db.$queryRaw<(Place & { action: string; target: string })[]>`
    SELECT found.epoch, found.seq, found.action,
      split_part(split_part(encode(found.bytes, 'escape'), '"target":"', -1), '"', 1) AS target
    FROM unnest(${windows.map(({ from }) => from)}::timestamptz[],
      ${windows.map(({ to }) => to)}::timestamptz[]) AS around (first, last)
    CROSS JOIN LATERAL (
      SELECT r.epoch, r.seq, r.position, r.bytes,
        split_part(encode(substring(r.bytes FROM 1 FOR 64), 'escape'), '"', 4) AS action
      FROM ledger_records r
      JOIN tenant_heads h ON h.tenant_id = r.tenant_id AND h.admin_stream = r.stream
      WHERE r.tenant_id = ${tenantId}::uuid AND r.type = 'admin_action'
        AND r.event_time BETWEEN around.first AND around.last
      OFFSET 0 -- so that each time is looked up by the index
    ) found
    WHERE found.action = ANY(${[...new Set(wanted.map(({ action }) => action))]}::text[])
    ORDER BY found.position`;
  const missing = new Map(wanted.map(({ action, target }) => [target, action]));
  return rows.filter(
    ({ action, target }) => missing.get(target) === action && missing.delete(target),
  );
}

/** @param wanted by time */
function windowsOf(wanted: readonly Wanted[]): { from: Date; to: Date }[] {
  const windows: { from: Date; to: Date }[] = [];
  for (const { at } of wanted) {
    const [from, to] = [new Date(at.getTime() - AROUND_MS), new Date(at.getTime() + AROUND_MS)];
    const last = windows.at(-1);
    if (last && from <= last.to) last.to = to;
    else windows.push({ from, to });
  }
  return windows;
}

async function readCauses(
  { db, scope: { tenantId } }: TenantTransaction,
  places: readonly Place[],
  size: number,
): Promise<Cause[]> {
  const rows = await db.$queryRaw<{ bytes: Uint8Array; leaf: bigint; index: bigint }[]>`
    SELECT r.bytes, b.leaf_index AS leaf, r.seq - b.first_seq AS index
    FROM unnest(${places.map(({ epoch }) => epoch)}::int[],
      ${places.map(({ seq }) => seq)}::bigint[]) AS place (epoch, seq)
    JOIN tenant_heads h ON h.tenant_id = ${tenantId}::uuid
    JOIN ledger_records r ON r.tenant_id = h.tenant_id AND r.stream = h.admin_stream
      AND r.epoch = place.epoch AND r.seq = place.seq
    JOIN LATERAL (
      SELECT leaf_index, first_seq FROM ledger_batches l
      WHERE l.tenant_id = r.tenant_id AND l.stream = r.stream AND l.epoch = r.epoch
        AND l.last_seq >= r.seq ORDER BY l.last_seq LIMIT 1
    ) b ON b.leaf_index < ${size}`;
  return rows.map(({ bytes, leaf, index }) => ({
    record: Buffer.from(bytes).toString('utf8'),
    leaf: Number(leaf),
    index: Number(index),
  }));
}
