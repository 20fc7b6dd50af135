import type { PolicyResult } from '@governance/shared/ledger/ledger-record';
import { type LedgerRow, type RawLedgerRow, toLedgerRow } from '../chain/ledger-row.ts';
import { recordAbout, recordsOf } from '../chain/records-of.ts';
import type { Page } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import { pageTooLarge } from '../platform/http/schemas.ts';
import type { AboutCall } from './audit-event.ts';

export interface EventFilter {
  agentId?: string | undefined;
  /** `dlp_block` is what exports say of a denial by data loss prevention, which is a `deny` too. */
  policyResult?: PolicyResult | undefined;
  /** Half-open, by the writer's clock: from <= timestamp < to. */
  from?: Date | undefined;
  to?: Date | undefined;
}

interface RawRow extends RawLedgerRow {
  agent_unknown: boolean;
}

/** Null beyond the page's byte budget. */
interface ListedRow extends Omit<RawRow, 'bytes'> {
  bytes: Uint8Array | null;
  outcome_bytes: Uint8Array | null;
  started_bytes: Uint8Array | null;
}

/**
 * A record has up to 256 KiB and a page up to 1,000 records: too much memory for several requests
 * at once. The default page of 100 always fits.
 */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

const COLUMNS = Prisma.sql`position, type, id, agent_id, policy_result, event_time, received_at,
  stream, epoch, seq, hash, prev_hash`;

export interface AuditStore {
  /**
   * Newest first, each with what was recorded about it.
   *
   * @throws AppError VALIDATION_FAILED where the page is too large for memory
   */
  listEvents(filter: EventFilter, page: Page): Promise<({ row: LedgerRow } & AboutCall)[]>;
  /** Counts matching events, but no further than `bound`. */
  countEvents(filter: EventFilter, bound: number): Promise<number>;
  /** The records received after a position, in order of receipt, of every type. */
  readAfter(position: number, limit: number): Promise<LedgerRow[]>;
  /**
   * The decisions of calls whose answer starts with one of these records, by its position: where it
   * is the first of its call, and was received after the decision and before any outcome. Of several
   * decisions with one id it is the newest before the start, as in the list.
   */
  findStarted(
    starts: readonly { id: string; stream: string; position: number }[],
  ): Promise<Map<number, LedgerRow>>;
  /** The newest position, 0 when nothing was ever received. */
  newestPosition(): Promise<number>;
}

export function auditStore({ db, scope }: TenantTransaction): AuditStore {
  const { tenantId } = scope;
  return {
    listEvents: async (filter, { limit, offset }) => {
      // The page is cut before the outcomes are joined, so that only its own are looked up: once for
      // each id, which a data plane may repeat in all of a page's events.
      const rows = await db.$queryRaw<ListedRow[]>`
        WITH e AS MATERIALIZED (
          SELECT ${COLUMNS}, bytes AS held, sum(octet_length(bytes))
            OVER (ORDER BY event_time DESC, position DESC) AS bytes_so_far
          FROM (
            SELECT ${COLUMNS}, bytes FROM ledger_records WHERE ${where(tenantId, filter)}
            ORDER BY event_time DESC, position DESC LIMIT ${limit} OFFSET ${offset}
          ) page
        ), called AS MATERIALIZED (
          SELECT DISTINCT id AS called_id, stream AS called_by FROM e WHERE type = 'decision'
        ), said AS MATERIALIZED (
          SELECT called_id, called_by, ${newestOutcome(tenantId)} AS ended_bytes,
            begun_bytes, decided.position AS decided_at
          FROM called LEFT JOIN (
            LATERAL ${startAbout(tenantId)} CROSS JOIN LATERAL ${decisionBefore(tenantId)}
          ) ON true
        )
        SELECT ${COLUMNS}, CASE WHEN bytes_so_far <= ${MAX_PAGE_BYTES} THEN held END AS bytes,
          CASE WHEN bytes_so_far <= ${MAX_PAGE_BYTES} THEN ended_bytes END AS outcome_bytes,
          CASE WHEN bytes_so_far <= ${MAX_PAGE_BYTES} AND position = decided_at THEN begun_bytes END
            AS started_bytes,
          ${agentUnknown(tenantId, Prisma.sql`e.agent_id`)}
        FROM e LEFT JOIN said ON type = 'decision' AND called_id = id AND called_by = stream
        ORDER BY event_time DESC, position DESC`;
      return rows.map(({ bytes, outcome_bytes, started_bytes, ...row }, index) => {
        if (bytes === null) throw pageTooLarge(index);
        const about = { outcomeBytes: outcome_bytes, startedBytes: started_bytes };
        return { row: toRow({ ...row, bytes }), ...about };
      });
    },
    countEvents: async (filter, bound) => {
      const [row] = await db.$queryRaw<{ count: bigint }[]>`
        SELECT count(*) AS count FROM (
          SELECT 1 FROM ledger_records WHERE ${where(tenantId, filter)} LIMIT ${bound}
        ) bounded`;
      return Number(row?.count ?? 0);
    },
    readAfter: async (position, limit) => {
      const rows = await db.$queryRaw<RawRow[]>`
        SELECT ${COLUMNS},
          CASE WHEN type IN ('decision', 'alert', 'admin_action', 'hold_opened', 'result_held',
            'answer_started') THEN bytes ELSE '' END AS bytes,
          ${agentUnknown(tenantId, Prisma.sql`ledger_records.agent_id`)}
        FROM ledger_records
        WHERE tenant_id = ${tenantId}::uuid AND position > ${position}
        ORDER BY position LIMIT ${limit}`;
      return rows.map(toRow);
    },
    findStarted: async (starts) => {
      if (starts.length === 0) return new Map();
      // Only a call with a start among the given ones is read: a data plane may repeat others.
      const rows = await db.$queryRaw<(RawRow & { begun_at: bigint })[]>`
        WITH begun AS MATERIALIZED (
          SELECT called_id, called_by, begun_at FROM (
            SELECT DISTINCT * FROM unnest(${starts.map(({ id }) => id)}::uuid[],
              ${starts.map(({ stream }) => stream)}::uuid[]) AS given (called_id, called_by)
          ) called CROSS JOIN LATERAL ${startAbout(tenantId)}
          WHERE begun_at = ANY(${starts.map(({ position }) => position)}::bigint[])
        )
        SELECT decided.*, begun_at, ${agentUnknown(tenantId, Prisma.sql`decided.agent_id`)}
        FROM begun CROSS JOIN LATERAL ${decisionBefore(tenantId)}`;
      return new Map(rows.map(({ begun_at, ...row }) => [Number(begun_at), toRow(row)]));
    },
    newestPosition: async () => {
      const row = await db.tenantPosition.findUnique({ where: { tenantId } });
      return Number(row?.position ?? 0);
    },
  };
}

const CALL = { id: Prisma.sql`called_id`, stream: Prisma.sql`called_by` };

/** The newest outcome of a call: a scalar, null where there is none. */
const newestOutcome = (tenantId: string) => Prisma.sql`(
  SELECT bytes FROM ${recordAbout(tenantId, 'newest', { ...CALL, type: 'outcome' })} ended)`;

/** The start of a call's answer for a FROM clause: no row where an outcome was received before. */
const startAbout = (tenantId: string) => Prisma.sql`(
  SELECT begun.position AS begun_at, begun.bytes AS begun_bytes
  FROM ${recordAbout(tenantId, 'first', { ...CALL, type: 'answer_started' })} begun
  LEFT JOIN LATERAL ${recordAbout(tenantId, 'first', { ...CALL, type: 'outcome' })} ended ON true
  WHERE ended.position IS NULL OR ended.position > begun.position) begins`;

/** The newest decision of a call before the start of its answer, for a FROM clause. */
const decisionBefore = (tenantId: string) => Prisma.sql`(
  SELECT * FROM ${recordsOf(tenantId, 'id', Prisma.sql`called_id`)} found
  WHERE type = 'decision' AND stream = called_by AND position < begun_at
  ORDER BY position DESC LIMIT 1) decided`;

/** Agents are never deleted, so an agent without a row never existed. */
const agentUnknown = (tenantId: string, agentId: Prisma.Sql) => Prisma.sql`
  (${agentId} IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM agents WHERE agents.tenant_id = ${tenantId}::uuid AND agents.id = ${agentId}
  )) AS agent_unknown`;

/** The condition of ledger_records_dlp_block_idx, word for word: otherwise every denial is read. */
const BLOCKED_BY_DLP = Prisma.sql`(policy_result = 'dlp_block' OR (policy_result = 'deny'
  AND substring(bytes FROM position('"dlp_action":'::bytea IN bytes) + 13 FOR 9) = '"blocked"'::bytea))`;

function where(tenantId: string, { agentId, policyResult, from, to }: EventFilter): Prisma.Sql {
  const conditions = [
    Prisma.sql`tenant_id = ${tenantId}::uuid`,
    // Only decisions have an agent and a result. The condition matches the partial indexes.
    agentId || policyResult
      ? Prisma.sql`type = 'decision'`
      : Prisma.sql`type IN ('decision', 'admin_action')`,
  ];
  if (policyResult === 'dlp_block') conditions.push(BLOCKED_BY_DLP);
  else if (policyResult) conditions.push(Prisma.sql`policy_result = ${policyResult}`);
  if (agentId) conditions.push(Prisma.sql`agent_id = ${agentId}::uuid`);
  if (from) conditions.push(Prisma.sql`event_time >= ${from}`);
  if (to) conditions.push(Prisma.sql`event_time < ${to}`);
  return Prisma.join(conditions, ' AND ');
}

function toRow(row: RawRow): LedgerRow {
  return { ...toLedgerRow(row), isAgentUnknown: row.agent_unknown };
}
