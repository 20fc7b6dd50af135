/** Plans which leaves an export contains, and where it is cut into volumes. */
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { QUARANTINED } from '../../chain/ledger-columns.ts';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { logStore } from '../log-store.ts';
import { findStart } from './boundaries.ts';
import {
  checkUnread,
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
export interface Weight {
  leaf: number;
  records: number;
  bytes: number;
  /** Whether it belongs to the admin chain. */
  isAdmin: boolean;
}

/** A leaf as it is stored. */
interface WeighedLeaf extends Weight {
  /** Records in quarantine. */
  quarantined: number;
}

const PAGE_LEAVES = 1_000;
/** How large a volume may become to include an approval; below verifiers' limits. */
const COVERED = {
  bytes: VOLUME_BYTES * 1.5,
  leaves: VOLUME_LIMITS.batches * 0.75,
  records: VOLUME_LIMITS.payloads * 0.75,
};
/** The size of a line of proof beside a selected record. */
const PROOF_BYTES = 1_024;

/** @throws ExportRefused when nothing was recorded in that time, or too much for one export */
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
    return { ...place, start, ends: cutSelected(weights) };
  }
  const range = await findRange(tx, request, size);
  const start = await findStart(tx, range, request.from);
  const { end } = range;
  const weights: Weight[] = [];
  let quarantined = 0;
  for (let from = start; from < end; from += PAGE_LEAVES) {
    const page = await weighLeaves(tx, request, from, Math.min(from + PAGE_LEAVES, end));
    weights.push(...page);
    quarantined += page.reduce((sum, leaf) => sum + leaf.quarantined, 0);
    checkUnread(quarantined);
  }
  await addBehind(weights, end, (from) => weighLeaves(tx, request, from, from + PAGE_LEAVES));
  return { ...place, start, ends: cutLeaves(weights, end) };
}

/**
 * Adds leaves after the range, up to the next one of the admin chain if that can still be included.
 */
async function addBehind(
  weights: Weight[],
  end: number,
  weigh: (from: number) => Promise<Weight[]>,
): Promise<void> {
  const held = { leaves: 0, records: 0, bytes: 0 };
  for (let from = end; !isPassed(held); from += PAGE_LEAVES) {
    const page = await weigh(from);
    weights.push(...page);
    for (const one of page) add(held, one);
    if (page.length < PAGE_LEAVES || page.some(({ isAdmin }) => isAdmin)) return;
  }
}

const nothing = () => new ExportRefused('nothing was recorded in that time');

/**
 * From the first leaf with a record of that time or later, since verifiers refuse one that comes
 * before, to the last that may have one of that time. A leaf all of whose records are earlier, as
 * by a clock that is wrong, does not extend it.
 */
async function findRange(
  { db, scope: { tenantId } }: TenantTransaction,
  { from, to }: EvidenceRequest,
  size: number,
): Promise<{ start: number; end: number }> {
  const [row] = await db.$queryRaw<{ first: bigint | null; last: bigint | null }[]>`
    SELECT min(leaf_index) FILTER (WHERE last_time >= ${from}) AS first,
      max(leaf_index) FILTER (WHERE first_time < ${to} AND last_time >= ${from}) AS last
    FROM ledger_batches WHERE tenant_id = ${tenantId}::uuid AND leaf_index < ${size}`;
  if (row?.first == null || row.last == null || row.first > row.last) throw nothing();
  return { start: Number(row.first), end: Number(row.last) + 1 };
}

async function weighLeaves(
  { db, scope: { tenantId } }: TenantTransaction,
  { includePayloads }: EvidenceRequest,
  from: number,
  end: number,
): Promise<WeighedLeaf[]> {
  const rows = await db.$queryRaw<
    { leaf: bigint; records: bigint; bytes: bigint; quarantined: bigint; is_admin: boolean }[]
  >`
    SELECT b.leaf_index AS leaf, b.last_seq - b.first_seq + 1 AS records,
      b.stream = (SELECT admin_stream FROM tenant_heads WHERE tenant_id = b.tenant_id) AS is_admin,
      l.quarantined, l.bytes + CASE WHEN ${includePayloads} THEN
        (SELECT coalesce(sum(octet_length(p.ciphertext)), 0) FROM (
            -- Once each, however often the records of the leaf name it.
            SELECT DISTINCT coalesce(r.subject_id, r.id) AS event_id,
              CASE r.type WHEN 'decision' THEN 'input' ELSE 'result' END AS part
            FROM ledger_records r
            WHERE r.tenant_id = b.tenant_id AND r.stream = b.stream AND r.epoch = b.epoch
              AND r.seq BETWEEN b.first_seq AND b.last_seq AND r.type IN ('decision', 'outcome')
          ) called JOIN event_payloads p ON p.tenant_id = b.tenant_id
            AND p.deployment_id = b.stream AND p.event_id = called.event_id
            AND p.part = called.part)
        ELSE 0 END AS bytes
    FROM ledger_batches b CROSS JOIN LATERAL (
      SELECT coalesce(sum(octet_length(r.bytes) + 1), 0) AS bytes,
        count(*) FILTER (WHERE r.type = ${QUARANTINED}) AS quarantined
      FROM ledger_records r
      WHERE r.tenant_id = b.tenant_id AND r.stream = b.stream AND r.epoch = b.epoch
        AND r.seq BETWEEN b.first_seq AND b.last_seq
    ) l
    WHERE b.tenant_id = ${tenantId}::uuid AND b.leaf_index >= ${from} AND b.leaf_index < ${end}
    ORDER BY b.leaf_index`;
  return rows.map(({ leaf, records, bytes, quarantined, is_admin: isAdmin }) => ({
    leaf: Number(leaf),
    records: Number(records),
    bytes: Number(bytes),
    quarantined: Number(quarantined),
    isAdmin,
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
  return selected.map(({ leaf, bytes }) => ({
    ...{ leaf, records: 1, isAdmin: false },
    bytes: bytes + PROOF_BYTES,
  }));
}

interface Held {
  leaves: number;
  records: number;
  bytes: number;
}

function add(held: Held, { records, bytes }: Weight): void {
  held.leaves++;
  held.records += records;
  held.bytes += bytes;
}

const isPassed = ({ leaves, records, bytes }: Held): boolean =>
  bytes > COVERED.bytes || leaves > COVERED.leaves || records > COVERED.records;

/**
 * Uses half of the verifiers' limits, since approvals after the volume and the batches of causes
 * are added to it.
 */
const isFull = (held: Held): boolean =>
  held.bytes > VOLUME_BYTES ||
  held.leaves > VOLUME_LIMITS.batches / 2 ||
  held.records > VOLUME_LIMITS.payloads / 2;

/** @returns the leaf before which each volume ends; records of one leaf stay in one volume */
function cutSelected(weights: readonly Weight[]): number[] {
  const ends: number[] = [];
  let held = { leaves: 0, records: 0, bytes: 0 };
  let last = -1;
  for (const { leaf, records, bytes } of weights) {
    const isNew = leaf !== last;
    const next = {
      leaves: held.leaves + (isNew ? 1 : 0),
      records: held.records + records,
      bytes: held.bytes + bytes,
    };
    const isCut = isNew && held.leaves > 0 && isFull(next);
    if (isCut) ends.push(leaf);
    held = isCut ? { leaves: 1, records, bytes } : next;
    last = leaf;
  }
  ends.push(last + 1);
  return bounded(ends);
}

/**
 * Cuts leaves into volumes. A call may be stored some seconds before its approval, since the admin
 * chain's batches are signed periodically; the next leaf of the admin chain after a call contains
 * everything that was approved before it. So a volume ends after such a leaf: the next one or, if
 * that is too far, the last one in it. A volume that contains no such leaf, or after which none is
 * known, is cut where it is full: while agents call, no approvals follow the log's newest leaves
 * yet.
 *
 * @param weights of the leaves of a range, and of some after it that may contain approvals
 * @param end of the range
 * @returns the leaf before which each volume ends
 */
export function cutLeaves(weights: readonly Weight[], end: number): number[] {
  const ends: number[] = [];
  const lastAdmin = weights.findLastIndex(({ isAdmin }) => isAdmin);
  for (let at = 0; at < weights.length && (weights[at] as Weight).leaf < end; ) {
    const full = fill(weights, at, end);
    const before = full > lastAdmin ? undefined : findAdminBefore(weights, at, full);
    at = findAdminBehind(weights, at, full) ?? before ?? full;
    ends.push((weights[at - 1] as Weight).leaf + 1);
  }
  return bounded(ends);
}

/** @returns the index of the first leaf that does not fit, or that lies after the range */
function fill(weights: readonly Weight[], from: number, end: number): number {
  const held = { leaves: 0, records: 0, bytes: 0 };
  for (let at = from; at < weights.length; at++) {
    const one = weights[at] as Weight;
    add(held, one);
    if (one.leaf >= end || (at > from && isFull(held))) return at;
  }
  return weights.length;
}

/** @returns the index after the next leaf of the admin chain, if the volume may reach that far */
function findAdminBehind(
  weights: readonly Weight[],
  from: number,
  full: number,
): number | undefined {
  if (weights[full - 1]?.isAdmin) return full;
  const held = { leaves: 0, records: 0, bytes: 0 };
  for (let at = from; at < weights.length; at++) {
    const one = weights[at] as Weight;
    add(held, one);
    if (isPassed(held)) return undefined;
    if (at >= full && one.isAdmin) return at + 1;
  }
  return undefined;
}

/** @returns the index after the last leaf of the admin chain in a volume */
function findAdminBefore(
  weights: readonly Weight[],
  from: number,
  full: number,
): number | undefined {
  for (let at = full; at > from; at--) if (weights[at - 1]?.isAdmin) return at;
  return undefined;
}

function bounded(ends: number[]): number[] {
  if (ends.length > MAX_VOLUMES) {
    throw new ExportRefused(`it would have more than ${MAX_VOLUMES} volumes: ask for less time`);
  }
  return ends;
}
