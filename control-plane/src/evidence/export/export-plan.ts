/** Which leaves an export takes, and where it is cut into volumes. */
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import type { TenantTransaction } from '../../platform/tenant-scope.ts';
import { logStore } from '../log-store.ts';
import {
  type EvidenceRequest,
  type ExportPlan,
  ExportRefused,
  isSelective,
  MAX_SELECTED,
  MAX_VOLUMES,
  VOLUME_BYTES,
} from './evidence-request.ts';
import { listSelected } from './selected-records.ts';

/** What a leaf adds to a volume. */
interface Weight {
  leaf: number;
  records: number;
  bytes: number;
}

const PAGE_LEAVES = 1_000;
/** What a line of proof takes beside a selected record. */
const PROOF_BYTES = 1_024;

/**
 * @throws ExportRefused where nothing was recorded in that time, or too much for one export
 */
export async function planExport(
  tx: TenantTransaction,
  request: EvidenceRequest,
): Promise<Omit<ExportPlan, 'data_key_id'>> {
  const { epoch, size } = await logStore(tx).findHead();
  const place = { log_epoch: epoch, size };
  if (isSelective(request)) {
    const weights = await weighSelected(tx, request, size);
    const start = weights[0]?.leaf;
    if (start === undefined) throw nothing();
    return { ...place, start, ends: cut(weights) };
  }
  const { start, end } = await findRange(tx, request, size);
  const weights: Weight[] = [];
  for (let from = start; from < end; from += PAGE_LEAVES) {
    weights.push(...(await weighLeaves(tx, request, from, Math.min(from + PAGE_LEAVES, end))));
  }
  const ends: number[] = [];
  for (const at of cut(weights)) {
    const end = await coverApprovals(tx, at, size);
    if (end > (ends.at(-1) ?? start)) ends.push(end);
  }
  return { ...place, start, ends };
}

/** Leaves by which a volume may become longer than its weight says. */
const MOST_COVERED = 1_000;

/**
 * A call may be stored some seconds before the approval that it went with, since the admin chain's
 * batches are signed periodically: the volume takes the next of them too.
 */
async function coverApprovals(
  { db, scope: { tenantId } }: TenantTransaction,
  end: number,
  size: number,
): Promise<number> {
  const [row] = await db.$queryRaw<{ leaf: bigint }[]>`
    SELECT b.leaf_index AS leaf FROM ledger_batches b
    JOIN tenant_heads h ON h.tenant_id = b.tenant_id AND h.admin_stream = b.stream
    WHERE b.tenant_id = ${tenantId}::uuid AND b.leaf_index >= ${end}
      AND b.leaf_index < ${Math.min(size, end + MOST_COVERED)}
    ORDER BY b.leaf_index LIMIT 1`;
  return row ? Number(row.leaf) + 1 : end;
}

const nothing = () => new ExportRefused('nothing was recorded in that time');

/** From the first leaf with a record of that time to the last one. */
async function findRange(
  { db, scope: { tenantId } }: TenantTransaction,
  { from, to }: EvidenceRequest,
  size: number,
): Promise<{ start: number; end: number }> {
  const [row] = await db.$queryRaw<{ first: bigint | null; last: bigint | null }[]>`
    SELECT min(leaf_index) FILTER (WHERE last_time >= ${from}) AS first,
      max(leaf_index) FILTER (WHERE first_time < ${to}) AS last
    FROM ledger_batches WHERE tenant_id = ${tenantId}::uuid AND leaf_index < ${size}`;
  if (row?.first == null || row.last == null || row.first > row.last) throw nothing();
  return { start: Number(row.first), end: Number(row.last) + 1 };
}

async function weighLeaves(
  { db, scope: { tenantId } }: TenantTransaction,
  { includePayloads }: EvidenceRequest,
  from: number,
  end: number,
): Promise<Weight[]> {
  const rows = await db.$queryRaw<{ leaf: bigint; records: bigint; bytes: bigint }[]>`
    SELECT b.leaf_index AS leaf, b.last_seq - b.first_seq + 1 AS records,
      (SELECT coalesce(sum(octet_length(r.bytes) + 1), 0) FROM ledger_records r
        WHERE r.tenant_id = b.tenant_id AND r.stream = b.stream AND r.epoch = b.epoch
          AND r.seq BETWEEN b.first_seq AND b.last_seq)
      + CASE WHEN ${includePayloads} THEN
        (SELECT coalesce(sum(octet_length(p.ciphertext)), 0) FROM ledger_records r
          JOIN event_payloads p ON p.tenant_id = r.tenant_id AND p.deployment_id = r.stream
            AND p.event_id = coalesce(r.subject_id, r.id)
            AND p.part = CASE r.type WHEN 'decision' THEN 'input' ELSE 'result' END
          WHERE r.tenant_id = b.tenant_id AND r.stream = b.stream AND r.epoch = b.epoch
            AND r.seq BETWEEN b.first_seq AND b.last_seq AND r.type IN ('decision', 'outcome'))
        ELSE 0 END AS bytes
    FROM ledger_batches b
    WHERE b.tenant_id = ${tenantId}::uuid AND b.leaf_index >= ${from} AND b.leaf_index < ${end}
    ORDER BY b.leaf_index`;
  return rows.map(({ leaf, records, bytes }) => ({
    leaf: Number(leaf),
    records: Number(records),
    bytes: Number(bytes),
  }));
}

async function weighSelected(
  tx: TenantTransaction,
  request: EvidenceRequest,
  size: number,
): Promise<Weight[]> {
  const selected = await listSelected(tx, request, { start: 0, end: size }, MAX_SELECTED + 1);
  if (selected.length > MAX_SELECTED) {
    throw new ExportRefused(`more than ${MAX_SELECTED} records are selected: ask for less time`);
  }
  return selected.map(({ leaf, bytes }) => ({ leaf, records: 1, bytes: bytes + PROOF_BYTES }));
}

/** @returns the leaf before which each volume ends */
function cut(weights: readonly Weight[]): number[] {
  const ends: number[] = [];
  let held = { leaves: 0, records: 0, bytes: 0, last: -1 };
  for (const { leaf, records, bytes } of weights) {
    const isFull =
      held.bytes + bytes > VOLUME_BYTES ||
      held.leaves >= VOLUME_LIMITS.batches ||
      held.records + records > VOLUME_LIMITS.payloads;
    if (isFull && held.leaves > 0 && leaf !== held.last) {
      ends.push(leaf);
      held = { leaves: 0, records: 0, bytes: 0, last: -1 };
    }
    held = {
      leaves: held.leaves + (leaf === held.last ? 0 : 1),
      records: held.records + records,
      bytes: held.bytes + bytes,
      last: leaf,
    };
  }
  ends.push(held.last + 1);
  if (ends.length > MAX_VOLUMES) {
    throw new ExportRefused(`it would have more than ${MAX_VOLUMES} volumes: ask for less time`);
  }
  return ends;
}
