/**
 * What a filter selects: decisions of agents, or of a workflow session, with all records about
 * them; and if only agents are named, also their alerts and refused calls.
 */

import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { Prisma } from '../../platform/generated/client.ts';
import type { EvidenceRequest } from './evidence-request.ts';

export interface SelectedRecord {
  leaf: number;
  stream: string;
  epoch: number;
  seq: number;
  /** In its batch. */
  index: number;
  bytes: number;
}

/**
 * @param leaves from `start` up to, but not including, `end`
 * @returns by leaf, then seq; at most `limit`
 */
export async function listSelected(
  { db, scope: { tenantId } }: TenantTransaction,
  { from, to, agentIds, workflowSessionId }: EvidenceRequest,
  leaves: { start: number; end: number },
  limit: number,
): Promise<SelectedRecord[]> {
  const tenant = Prisma.sql`${tenantId}::uuid`;
  const ofAgents =
    agentIds.length > 0 ? Prisma.sql`AND r.agent_id = ANY(${agentIds}::uuid[])` : Prisma.empty;
  const ofSession =
    workflowSessionId === null
      ? Prisma.empty
      : Prisma.sql`AND EXISTS (SELECT 1 FROM workflow_events w WHERE w.tenant_id = ${tenant}
          AND w.session_id = ${workflowSessionId}::uuid AND w.event_id = r.id)
          AND ${namesSession(workflowSessionId)}`;
  const besides =
    workflowSessionId === null
      ? Prisma.sql`UNION ALL SELECT r.stream, r.epoch, r.seq, octet_length(r.bytes) AS bytes
          FROM ledger_records r WHERE r.tenant_id = ${tenant} AND r.type IN ('alert', 'rate_limited')
            AND r.agent_id = ANY(${agentIds}::uuid[]) AND r.event_time >= ${from}
            AND r.event_time < ${to}`
      : Prisma.empty;
  const rows = await db.$queryRaw<
    { leaf: bigint; stream: string; epoch: number; seq: bigint; index: bigint; bytes: number }[]
  >`
    WITH decided AS (
      SELECT r.id, r.stream, r.epoch, r.seq, octet_length(r.bytes) AS bytes FROM ledger_records r
      WHERE r.tenant_id = ${tenant} AND r.type = 'decision' AND r.event_time >= ${from}
        AND r.event_time < ${to} AND ${isOfTime(from, to)} ${ofAgents} ${ofSession}
    ), picked AS (
      SELECT stream, epoch, seq, bytes FROM decided
      UNION ALL
      SELECT r.stream, r.epoch, r.seq, octet_length(r.bytes)
      -- A data plane may give an id twice: each record about it is taken once.
      FROM (SELECT DISTINCT id, stream FROM decided) d
      -- IS TRUE keeps PostgreSQL from choosing an index of streams, see recordsOf.
      JOIN ledger_records r ON r.tenant_id = ${tenant} AND r.subject_id = d.id
        AND (r.stream = d.stream) IS TRUE
      ${besides}
    )
    SELECT b.leaf_index AS leaf, r.stream, r.epoch, r.seq, r.seq - b.first_seq AS index, r.bytes
    FROM picked r
    -- The first batch that has it: another writer's cut may have it again.
    JOIN LATERAL (
      SELECT leaf_index, first_seq FROM ledger_batches l
      WHERE l.tenant_id = ${tenant} AND l.stream = r.stream AND l.epoch = r.epoch
        AND l.last_seq >= r.seq ORDER BY l.last_seq LIMIT 1
    ) b ON true
    WHERE b.leaf_index >= ${leaves.start} AND b.leaf_index < ${leaves.end}
    ORDER BY b.leaf_index, r.seq LIMIT ${limit}`;
  return rows.map(({ leaf, seq, index, ...row }) => ({
    ...row,
    leaf: Number(leaf),
    seq: Number(seq),
    index: Number(index),
  }));
}

/**
 * Whether the record's own time lies in the scope, as verifiers ask: where that is impossible, the
 * row has the time of the receipt. In canonical JSON only single values, no objects, come behind a
 * decision's own `timestamp`, so that it is the last member of that name. Compared as text, so that
 * no bytes can fail the export.
 */
const isOfTime = (from: Date, to: Date) => {
  const own = Prisma.sql`left(split_part(encode(r.bytes, 'escape'), '"timestamp":"', -1), 24)`;
  return Prisma.sql`(r.event_time <> r.received_at
    OR (${own} >= ${from.toISOString()} COLLATE "C" AND ${own} < ${to.toISOString()} COLLATE "C"))`;
};

/**
 * Whether the record itself says so: `workflow_events` knows ids only, which a data plane may give
 * twice. In canonical JSON the session is the last member of a decision; findings may have others
 * of its name.
 */
const namesSession = (id: string) => {
  const end = `"workflow_session_id":"${id}"}`;
  return Prisma.sql`substring(r.bytes FROM greatest(octet_length(r.bytes) - ${end.length - 1}, 1))
    = convert_to(${end}, 'UTF8')`;
};
