/**
 * The newest admin record about each of some policies. What is read are changes of policies since
 * these were last saved, from an index of their own, however long the log is. Proven by
 * policy-records.pg.test.ts and look-up-plans.pg.test.ts.
 */
import { recordHash } from '@governance/shared/hash-chain';
import { type AdminActionRecord, parseRecord } from '@governance/shared/ledger-record';
import { Prisma } from '../platform/generated/client.ts';
import type { TenantTransaction } from '../platform/tenant-scope.ts';

export interface NewestRecord {
  id: string;
  position: bigint;
  /** Undefined where it does not match its hash, or cannot be read. */
  record: AdminActionRecord | undefined;
}

interface Row {
  target: string;
  id: string;
  position: bigint;
  hash: string;
  bytes: Uint8Array;
}

/** The condition of ledger_records_policy_idx, word for word: otherwise every record is read. */
const IS_CHANGE = Prisma.sql`type = 'admin_action' AND substring(bytes FROM 1 FOR 25) IN (
    '{"action":"policy_created', '{"action":"policy_updated', '{"action":"policy_activat',
    '{"action":"policy_archive', '{"action":"policy_restore', '{"action":"policy_deactiv')`;

/** No member before the target can hold this: in a text, its quotes are escaped. */
const TARGET = '"target":"policy/';

/**
 * @param policyIds in lower case
 * @param recordIds what the policies' rows name as their records; null: every record is searched
 */
export async function findNewestRecords(
  tx: TenantTransaction,
  policyIds: readonly string[],
  recordIds: readonly (string | null)[],
): Promise<Map<string, NewestRecord>> {
  if (policyIds.length === 0) return new Map();
  const rows = await tx.db.$queryRaw<Row[]>(
    newestSince(tx.scope.tenantId, policyIds, await findStart(tx, recordIds)),
  );
  return new Map(
    rows.map(({ target, id, position, hash, bytes }) => [
      target,
      { id, position, record: recordHash(bytes) === hash ? readAdminAction(bytes) : undefined },
    ]),
  );
}

export const newestSince = (tenantId: string, policyIds: readonly string[], start: bigint) =>
  Prisma.sql`
    SELECT DISTINCT ON (target) target, id, position, hash, bytes FROM (
      SELECT id, position, hash, bytes,
        encode(substring(bytes FROM position(convert_to(${TARGET}, 'UTF8') IN bytes)
          + ${TARGET.length}::int FOR 36), 'escape') AS target
      FROM ledger_records
      WHERE tenant_id = ${tenantId}::uuid AND position >= ${start}::bigint AND ${IS_CHANGE}
      ORDER BY position DESC
    ) changes
    WHERE target = ANY(${[...policyIds]}::text[]) ORDER BY target, position DESC`;

/** The lowest place of these records: what is before it is no policy's newest. */
async function findStart(
  { db, scope: { tenantId } }: TenantTransaction,
  recordIds: readonly (string | null)[],
): Promise<bigint> {
  const known = recordIds.filter((id) => id !== null);
  if (known.length < recordIds.length || known.length === 0) return 0n;
  // OFFSET 0 as in recordsOf: each is looked up by its id, whatever PostgreSQL knows of the table.
  const [row] = await db.$queryRaw<{ start: bigint | null; found: bigint }[]>`
    SELECT min(own.position) AS start, count(DISTINCT own.id) AS found
    FROM unnest(${known}::uuid[]) AS wanted (id) CROSS JOIN LATERAL (
      SELECT l.id, l.position FROM ledger_records l
      WHERE l.tenant_id = ${tenantId}::uuid AND l.id = wanted.id OFFSET 0) own`;
  return row?.start != null && Number(row.found) === new Set(known).size ? row.start : 0n;
}

function readAdminAction(bytes: Uint8Array): AdminActionRecord | undefined {
  try {
    const record = parseRecord(bytes);
    return record.type === 'admin_action' ? record : undefined;
  } catch {
    return undefined;
  }
}
