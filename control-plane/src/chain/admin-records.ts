/** Single admin records of a tenant. */

import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import { recordsOf } from './records-of.ts';

/** Admin records that are searched for one that no row names. */
const SEARCHED = 2_000;

export interface StoredRecord {
  hash: string;
  bytes: Uint8Array;
}

export async function findAdminRecord(
  { db, scope: { tenantId } }: TenantTransaction,
  recordId: string,
): Promise<StoredRecord | undefined> {
  const [row] = await db.$queryRaw<StoredRecord[]>`
    SELECT hash, bytes FROM ${recordsOf(tenantId, 'id', Prisma.sql`${recordId}::uuid`)} r
    WHERE type = 'admin_action' LIMIT 1`;
  return row;
}

/** The newest about a target, among the newest of all: a row of an earlier version names none. */
export async function searchAdminRecord(
  { db, scope: { tenantId } }: TenantTransaction,
  target: string,
): Promise<StoredRecord | undefined> {
  const named = `"target":${JSON.stringify(target)}`;
  const [found] = await db.$queryRaw<StoredRecord[]>`
    SELECT hash, bytes FROM (
      SELECT r.hash, r.bytes, r.seq FROM tenant_heads h JOIN ledger_records r
        ON r.tenant_id = h.tenant_id AND r.stream = h.admin_stream AND r.epoch = h.admin_epoch
      WHERE h.tenant_id = ${tenantId}::uuid AND r.seq > h.admin_seq - ${SEARCHED}::int
    ) newest
    WHERE position(convert_to(${named}, 'UTF8') IN bytes) > 0 ORDER BY seq DESC LIMIT 1`;
  return found;
}
