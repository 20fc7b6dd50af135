/**
 * The records that decisions refer to and that the volume may lack: the approval of a call, and the
 * delegations under which it was made. Each is a record of the admin chain, included with its
 * proofs.
 */
import { MAX_WORKFLOW_DEPTH } from '@governance/shared/facts';
import { readRecord } from '../../chain/ledger-row.ts';
import type { TenantTransaction } from '../../platform/tenant-scope.ts';

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

interface Wanted {
  action: string;
  target: string;
  at: Date;
}

/**
 * Whether one of these records may name a cause. Few do, and only those are parsed.
 *
 * @param text the lines of records
 */
export const mayNameCauses = (text: string): boolean =>
  text.includes('"grant_id":"') || text.includes('"delegation_chain":["');

/**
 * Collects the approval and the delegations that a record refers to: no more than a chain that was
 * issued can have. A longer one has a fault, whatever its end names.
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
  const causes: Cause[] = [];
  for (const wanted of await listWanted(tx, named)) {
    const found = await findCause(tx, wanted, size);
    if (found) causes.push(found);
  }
  return causes.sort((a, b) => a.leaf - b.leaf || a.index - b.index);
}

async function listWanted(
  { db, scope: { tenantId } }: TenantTransaction,
  { grants, delegations }: NamedCauses,
): Promise<Wanted[]> {
  const approved = await db.escalation.findMany({
    where: { tenantId, grantId: { in: [...grants] } },
    select: { id: true, resolvedAt: true },
  });
  // One parameter, as where ingest looks them up.
  const issued = await db.$queryRaw<{ id: string; createdAt: Date }[]>`
    SELECT id, created_at AS "createdAt" FROM delegations
    WHERE tenant_id = ${tenantId}::uuid AND id = ANY(${[...delegations]}::uuid[])`;
  return [
    ...approved.flatMap(({ id, resolvedAt: at }): Wanted[] =>
      at ? [{ action: 'escalation_approved', target: `escalation/${id}`, at }] : [],
    ),
    ...issued.map(({ id, createdAt: at }) => ({
      ...{ action: 'delegation_issued', target: `delegation/${id}`, at },
    })),
  ];
}

async function findCause(
  { db, scope: { tenantId } }: TenantTransaction,
  { action, target, at }: Wanted,
  size: number,
): Promise<Cause | undefined> {
  const from = new Date(at.getTime() - AROUND_MS);
  const to = new Date(at.getTime() + AROUND_MS);
  const rows = await db.$queryRaw<{ bytes: Uint8Array; leaf: bigint; index: bigint }[]>`
    SELECT r.bytes, b.leaf_index AS leaf, r.seq - b.first_seq AS index
    FROM ledger_records r
    JOIN tenant_heads h ON h.tenant_id = r.tenant_id AND h.admin_stream = r.stream
    JOIN LATERAL (
      SELECT leaf_index, first_seq FROM ledger_batches l
      WHERE l.tenant_id = r.tenant_id AND l.stream = r.stream AND l.epoch = r.epoch
        AND l.last_seq >= r.seq ORDER BY l.last_seq LIMIT 1
    ) b ON b.leaf_index < ${size}
    WHERE r.tenant_id = ${tenantId}::uuid AND r.type = 'admin_action'
      AND r.event_time BETWEEN ${from} AND ${to}
      AND position(convert_to(${`"target":"${target}"`}, 'UTF8') IN r.bytes) > 0
    ORDER BY r.position LIMIT 100`;
  for (const { bytes, leaf, index } of rows) {
    const record = readRecord(bytes);
    if (record?.type !== 'admin_action') continue;
    if (record.action !== action || record.target !== target) continue;
    const text = Buffer.from(bytes).toString('utf8');
    return { record: text, leaf: Number(leaf), index: Number(index) };
  }
  return undefined;
}
