/**
 * The newest admin record about each of some rows. What is read are changes of one kind since these
 * rows were last saved, from an index of their own, however long the log is. Proven by
 * ../policies/policy-records.pg.test.ts and ../chain/look-up-plans.pg.test.ts.
 */
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { type AdminActionRecord, parseRecord } from '@governance/shared/ledger/ledger-record';
import { Prisma } from '../generated/client.ts';
import type { TenantTransaction } from './tenant-scope.ts';

/** The records that are searched. */
export interface RecordKind {
  /** The condition of an index of their own, word for word: otherwise every record is read. */
  condition: Prisma.Sql;
  /** What their targets begin with, such as `policy/`; an id follows. */
  target: string;
}

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

/**
 * @param ids of the rows, in lower case
 * @param recordIds what the rows name as their records; null: every record of the kind is searched
 */
export async function findNewestRecords(
  tx: TenantTransaction,
  kind: RecordKind,
  ids: readonly string[],
  recordIds: readonly (string | null)[],
): Promise<Map<string, NewestRecord>> {
  if (ids.length === 0) return new Map();
  const start = await findStart(tx, recordIds);
  const rows = await tx.db.$queryRaw<Row[]>(newestSince(tx.scope.tenantId, kind, ids, start));
  return new Map(
    rows.map(({ target, id, position, ...stored }) => [
      target,
      { id, position, record: readAdminAction(stored) },
    ]),
  );
}

export function newestSince(
  tenantId: string,
  { condition, target }: RecordKind,
  ids: readonly string[],
  start: bigint,
): Prisma.Sql {
  // No member before the target can hold this: in a text, its quotes are escaped.
  const before = `"target":"${target}`;
  return Prisma.sql`
    SELECT DISTINCT ON (target) target, id, position, hash, bytes FROM (
      SELECT id, position, hash, bytes,
        encode(substring(bytes FROM position(convert_to(${before}, 'UTF8') IN bytes)
          + ${before.length}::int FOR 36), 'escape') AS target
      FROM ledger_records
      WHERE tenant_id = ${tenantId}::uuid AND position >= ${start}::bigint AND ${condition}
      ORDER BY position DESC
    ) changes
    WHERE target = ANY(${[...ids]}::text[]) ORDER BY target, position DESC`;
}

/** The lowest place of these records: what is before it is no row's newest. */
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

/** @returns undefined where it does not match its hash, or is no admin record */
export function readAdminAction({
  hash,
  bytes,
}: Pick<Row, 'hash' | 'bytes'>): AdminActionRecord | undefined {
  if (recordHash(bytes) !== hash) return undefined;
  try {
    const record = parseRecord(bytes);
    return record.type === 'admin_action' ? record : undefined;
  } catch {
    return undefined;
  }
}
