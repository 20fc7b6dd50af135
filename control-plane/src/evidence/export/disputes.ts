/**
 * The disputes (ADR 93) that a volume needs and does not hold: each lies in a leaf before that of
 * the records that it names, and may lie before the volume, or outside of its selection.
 */
import type { BatchHeader } from '@governance/shared/ledger/audit-batch';
import {
  DISPUTED_TARGET,
  DisputeDetails,
  RECORD_DISPUTED,
} from '@governance/shared/ledger/record-dispute';
import { readRecord } from '../../chain/ledger-row.ts';
import { createReferenceFacts } from '../../ingest/reference-facts.ts';
import { findReferenceFaults, grantOf, referencesOf } from '../../ingest/reference-faults.ts';
import { HELD_TYPES } from '../../ingest/second-holds.ts';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { Prisma } from '../../platform/generated/client.ts';
import type { Cause } from './causes.ts';
import type { PackagedRecord } from './packaged-record.ts';
import type { SelectedRecord } from './selected-records.ts';

/** Leaves between a dispute and its record, at most: those of other writers meanwhile. */
const MAX_APART = 10_000;

/** A record that a dispute names: another one may be stored at its place. */
type Disputed = Pick<DisputeDetails['records'][number], 'seq' | 'hash'>;

/** Whether the volume has one of these very records. */
export type IsHeld = (
  stream: string,
  epoch: number,
  records: readonly Disputed[],
) => boolean | Promise<boolean>;

/** Collects those of the selected records that a dispute may name, with streams and leaves. */
export function createDisputable() {
  const facts = createReferenceFacts();
  /** By place, the record's hash. */
  const places = new Map<string, string>();
  const leaves = new Set<number>();
  const streams = new Set<string>();
  const placeOf = (stream: string, epoch: number, seq: number) => `${stream}/${epoch}/${seq}`;
  return {
    leaves,
    streams,
    isHeld: ((stream, epoch, disputed) =>
      disputed.some(
        ({ seq, hash }) => places.get(placeOf(stream, epoch, seq)) === hash,
      )) satisfies IsHeld,
    /** @param page where the records are, in their order */
    note: async (
      tx: TenantTransaction,
      records: readonly PackagedRecord[],
      page: readonly SelectedRecord[],
    ): Promise<void> => {
      const add = ({ stream, epoch, seq, leaf }: SelectedRecord, hash: string) => {
        places.set(placeOf(stream, epoch, seq), hash);
        leaves.add(leaf);
        streams.add(stream);
      };
      for (const [at, { type, hash }] of records.entries()) {
        const place = page[at];
        if (place && HELD_TYPES.some((held) => held === type)) add(place, hash);
      }
      const decided = records.flatMap(({ type, text, hash, seq }, at) => {
        const decision = type === 'decision' ? readRecord(Buffer.from(text)) : undefined;
        const place = page[at];
        return place && decision?.type === 'decision' ? [{ decision, hash, seq, place }] : [];
      });
      const known = await facts.lookUp(tx, referencesOf(decided));
      for (const one of decided) {
        // Whether an approval was used before, the volume does not know.
        const isSound =
          grantOf(one.decision) === null && findReferenceFaults([one], known).length === 0;
        if (!isSound) add(one.place, one.hash);
      }
    },
  };
}

/** Whether one of them is stored, as it is named. */
export async function isStored(
  { db, scope: { tenantId } }: TenantTransaction,
  stream: string,
  epoch: number,
  records: readonly Disputed[],
): Promise<boolean> {
  if (records.length === 0) return false;
  const rows = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM ledger_records r
    JOIN unnest(${records.map(({ seq }) => BigInt(seq))}::bigint[],
      ${records.map(({ hash }) => hash)}::text[]) AS d (seq, hash)
      ON r.seq = d.seq AND r.hash = d.hash
    WHERE r.tenant_id = ${tenantId}::uuid AND r.stream = ${stream}::uuid AND r.epoch = ${epoch}
    LIMIT 1`;
  return rows.length > 0;
}

/**
 * @param leaves of records that may be disputed
 * @param streams of these records: disputes of others are not read
 * @returns the disputes in leaves before them that name a record of the volume; one leaf's at a
 * time, so that many are refused before they fill the memory
 */
export async function* findDisputes(
  tx: TenantTransaction,
  leaves: Iterable<number>,
  streams: Iterable<string>,
  isHeld: IsHeld,
): AsyncGenerator<Cause> {
  const ofStreams = isDisputeOf([...streams]);
  for (const range of rangesBefore(leaves)) {
    const disputing = await listDisputing(tx, range, ofStreams);
    for (const leaf of disputing) yield* readDisputes(tx, leaf, ofStreams, isHeld);
  }
}

/**
 * A batch may repeat records that were stored, and disputed, any number of leaves before it.
 *
 * @param start of the volume, before which `findDisputes` searches
 * @param lowest of each stream the batch of the volume that reaches back furthest
 * @returns the further disputes. Only those of a stream that repeats records are read: how many
 * others disputed meanwhile is not up to it
 */
export async function* findRepeatedDisputes(
  tx: TenantTransaction,
  start: number,
  lowest: Iterable<BatchHeader>,
  isHeld: IsHeld,
): AsyncGenerator<Cause> {
  const searched = start - MAX_APART;
  if (searched <= 0) return;
  for (const [stream, leaves] of await listRepeated(tx, start, [...lowest])) {
    const ofStream = isDisputeOf([stream]);
    for (const { from, end } of rangesBefore(leaves)) {
      const range = { from, end: Math.min(end, searched) };
      const disputing = await listDisputing(tx, range, ofStream);
      for (const leaf of disputing) yield* readDisputes(tx, leaf, ofStream, isHeld);
    }
  }
}

/** By stream, the leaves before `start` that have records of these batches. */
async function listRepeated(
  { db, scope: { tenantId } }: TenantTransaction,
  start: number,
  batches: readonly BatchHeader[],
): Promise<Map<string, number[]>> {
  const rows = await db.$queryRaw<{ stream: string; leaf: bigint }[]>`
    SELECT b.stream, b.leaf_index AS leaf
    FROM unnest(${batches.map(({ stream }) => stream)}::uuid[],
      ${batches.map(({ epoch }) => epoch)}::int[],
      ${batches.map(({ first_seq }) => BigInt(first_seq))}::bigint[],
      ${batches.map(({ last_seq }) => BigInt(last_seq))}::bigint[]
    ) AS a (stream, epoch, first_seq, last_seq)
    JOIN ledger_batches b ON b.stream = a.stream AND b.epoch = a.epoch
      AND b.last_seq BETWEEN a.first_seq AND a.last_seq
    WHERE b.tenant_id = ${tenantId}::uuid AND b.leaf_index < ${start}`;
  const repeated = new Map<string, number[]>();
  for (const { stream, leaf } of rows) {
    const leaves = repeated.get(stream);
    if (leaves) leaves.push(Number(leaf));
    else repeated.set(stream, [Number(leaf)]);
  }
  return repeated;
}

interface Range {
  from: number;
  end: number;
}

function rangesBefore(leaves: Iterable<number>): Range[] {
  const ranges: Range[] = [];
  for (const end of [...leaves].sort((a, b) => a - b)) {
    const from = Math.max(0, end - MAX_APART);
    const last = ranges.at(-1);
    if (last && from <= last.end) last.end = end;
    else ranges.push({ from, end });
  }
  return ranges;
}

/**
 * Whether a record, `r`, of the admin chain disputes records of one of the streams. In canonical
 * JSON an action begins with `action`, and its last 400 bytes have `target`, the last member of its
 * name.
 */
function isDisputeOf(streams: readonly string[]): Prisma.Sql {
  const targets = streams.map((stream) => DISPUTED_TARGET + stream);
  return Prisma.sql`
    position(convert_to(${`{"action":"${RECORD_DISPUTED}",`}, 'UTF8')
      IN substring(r.bytes FROM 1 FOR 64)) = 1
    AND split_part(split_part(
      encode(substring(r.bytes FROM greatest(octet_length(r.bytes) - 400, 1)), 'escape'),
      '"target":"', -1), '"', 1) = ANY(${targets}::text[])`;
}

/**
 * Leaves of the admin chain that have such disputes. Their content comes one leaf at a time: a lying
 * data plane causes many.
 */
async function listDisputing(
  { db, scope: { tenantId } }: TenantTransaction,
  { from, end }: Range,
  ofStreams: Prisma.Sql,
): Promise<number[]> {
  const rows = await db.$queryRaw<{ leaf: bigint }[]>`
    SELECT DISTINCT b.leaf_index AS leaf
    FROM ledger_batches b
    JOIN tenant_heads h ON h.tenant_id = b.tenant_id AND h.admin_stream = b.stream
    JOIN ledger_records r ON r.tenant_id = b.tenant_id AND r.stream = b.stream
      AND r.epoch = b.epoch AND r.seq BETWEEN b.first_seq AND b.last_seq
    WHERE b.tenant_id = ${tenantId}::uuid AND b.leaf_index >= ${from} AND b.leaf_index < ${end}
      AND ${ofStreams}
    ORDER BY leaf`;
  return rows.map(({ leaf }) => Number(leaf));
}

async function* readDisputes(
  { db, scope: { tenantId } }: TenantTransaction,
  leaf: number,
  ofStreams: Prisma.Sql,
  isHeld: IsHeld,
): AsyncGenerator<Cause> {
  const rows = await db.$queryRaw<{ bytes: Uint8Array; index: bigint }[]>`
    SELECT r.bytes, r.seq - b.first_seq AS index
    FROM ledger_batches b JOIN ledger_records r ON r.tenant_id = b.tenant_id
      AND r.stream = b.stream AND r.epoch = b.epoch AND r.seq BETWEEN b.first_seq AND b.last_seq
    WHERE b.tenant_id = ${tenantId}::uuid AND b.leaf_index = ${leaf}
      AND ${ofStreams}
    ORDER BY r.seq`;
  for (const { bytes, index } of rows) {
    if (!(await namesHeld(bytes, isHeld))) continue;
    yield { record: Buffer.from(bytes).toString('utf8'), leaf, index: Number(index) };
  }
}

async function namesHeld(bytes: Uint8Array, isHeld: IsHeld): Promise<boolean> {
  const record = readRecord(bytes);
  if (record?.type !== 'admin_action' || record.action !== RECORD_DISPUTED) return false;
  const details = DisputeDetails.safeParse(record.details);
  if (!details.success) return false;
  const stream = record.target.slice(DISPUTED_TARGET.length);
  const { epoch, records } = details.data;
  return isHeld(stream, epoch, records);
}
