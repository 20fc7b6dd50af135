import { QUESTIONS } from '@governance/shared/mcp/server-questions';
import { recordsOf } from '../chain/records-of.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';

/** Limits per transaction: decisions, and their bytes. */
const MAX_DECISIONS = 1_000;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * As canonical JSON has members. In a text, quotation marks are escaped, so that no text looks like
 * one.
 */
const WITH_FINDINGS = '"dlp_findings":[{';
const OF_QUESTIONS = [...QUESTIONS].map((method) => `"method":"${method}"`);

/** The bytes of an outcome and of its decision. */
export interface AnsweredQuestion {
  outcome: Uint8Array;
  decision: Uint8Array;
}

/** Reads each of a tenant's decisions once, in the order of receipt, beginning at the mark. */
export function recordReader({ db, scope: { tenantId } }: TenantTransaction) {
  async function newestPosition(): Promise<number> {
    const row = await db.tenantPosition.findUnique({ where: { tenantId } });
    return Number(row?.position ?? 0);
  }

  /** The mark of a tenant without one: reading begins with the records of the last day. */
  async function firstMark(): Promise<number> {
    const [row] = await db.$queryRaw<{ position: bigint }[]>`
      SELECT position FROM ledger_records
      WHERE tenant_id = ${tenantId}::uuid AND received_at >= now() - interval '1 day'
      ORDER BY received_at, position LIMIT 1`;
    return row ? Number(row.position) - 1 : newestPosition();
  }

  return {
    /** Locks the tenant's mark until the transaction ends, and returns it. Serialises readers. */
    lockMark: async (): Promise<number> => {
      const lock = () => db.$queryRaw<{ position: bigint }[]>`
        SELECT position FROM disposition_marks WHERE tenant_id = ${tenantId}::uuid FOR UPDATE`;
      const [known] = await lock();
      if (known) return Number(known.position);
      const position = await firstMark();
      await db.$executeRaw`
        INSERT INTO disposition_marks (tenant_id, position)
        VALUES (${tenantId}::uuid, ${position}) ON CONFLICT DO NOTHING`;
      const [made] = await lock();
      return Number(made?.position ?? position);
    },

    /** @returns a batch of decisions after the mark, and the position up to which all were read */
    readDecisions: async (mark: number): Promise<{ rows: Uint8Array[]; upTo: number }> => {
      const newest = await newestPosition();
      if (newest <= mark) return { rows: [], upTo: mark };
      const rows = await db.$queryRaw<{ position: bigint; bytes: Uint8Array | null }[]>`
        SELECT position, CASE WHEN before < ${MAX_BYTES} THEN bytes END AS bytes FROM (
          SELECT position, bytes,
            sum(octet_length(bytes)) OVER (ORDER BY position) - octet_length(bytes) AS before
          FROM (
            SELECT position, bytes FROM ledger_records
            WHERE tenant_id = ${tenantId}::uuid AND type = 'decision'
              AND position > ${mark} AND position <= ${newest}
            ORDER BY position LIMIT ${MAX_DECISIONS + 1}
          ) next
        ) counted
        ORDER BY position`;
      const taken: Uint8Array[] = [];
      let upTo = mark;
      for (const { position, bytes } of rows.slice(0, MAX_DECISIONS)) {
        if (bytes === null) break;
        taken.push(bytes);
        upTo = Number(position);
      }
      return { rows: taken, upTo: taken.length === rows.length ? newest : upTo };
    },

    /**
     * Reads what clients answered to servers' questions, where something was found in it. What
     * lies beyond the limits is left out.
     */
    readAnswers: async (mark: number, upTo: number): Promise<AnsweredQuestion[]> => db.$queryRaw`
      SELECT outcome, decision FROM (
        SELECT o.bytes AS outcome, d.bytes AS decision, o.position,
          sum(octet_length(o.bytes) + octet_length(d.bytes)) OVER (ORDER BY o.position) AS size
        FROM (
          SELECT position, stream, subject_id, bytes FROM ledger_records
          WHERE tenant_id = ${tenantId}::uuid AND type = 'outcome'
            AND position > ${mark} AND position <= ${upTo}
            AND position(convert_to(${WITH_FINDINGS}, 'UTF8') IN bytes) > 0
          ORDER BY position
        ) o
        CROSS JOIN LATERAL (
          SELECT bytes FROM ${recordsOf(tenantId, 'id', Prisma.sql`o.subject_id`)} r
          WHERE r.type = 'decision' AND r.stream = o.stream
            AND EXISTS (SELECT FROM unnest(${OF_QUESTIONS}::text[]) m
              WHERE position(convert_to(m, 'UTF8') IN r.bytes) > 0)
          ORDER BY r.position LIMIT 1
        ) d
        ORDER BY o.position LIMIT ${MAX_DECISIONS}
      ) answered
      WHERE size <= ${MAX_BYTES} ORDER BY position`,

    move: async (position: number, now: Date): Promise<void> => {
      await db.dispositionMark.update({
        where: { tenantId },
        data: { position, updatedAt: now },
      });
    },
  };
}
