/** Reads the content of a volume, in the tenant's transaction. */
import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { readSignedMembers } from '../../bundles/bundle-content.ts';
import { QUARANTINED } from '../../chain/ledger-columns.ts';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';
import {
  mayBeUnreadable,
  type PackagedRecord,
  type RawRecord,
  toPackaged,
} from './packaged-record.ts';
import type { SelectedRecord } from './selected-records.ts';

export interface PackagedBatch {
  leaf: number;
  header: string;
  signature: string;
}

/** A leaf with all of its records. */
export interface PackagedLeaf extends PackagedBatch {
  records: number;
  /** The records' lines in order; null when each must be inspected individually. */
  lines: string | null;
}

/** A bundle's signed members, as a decision's revision names them. */
export interface SignedBundle {
  revision: number;
  digest: string;
  manifest: string;
  signatures: string;
}

export function packageReads({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    readBatches: async (from: number, end: number): Promise<PackagedBatch[]> => {
      const rows = await db.ledgerBatch.findMany({
        where: { tenantId, leafIndex: { gte: from, lt: end } },
        select: { leafIndex: true, header: true, signature: true },
        orderBy: { leafIndex: 'asc' },
      });
      return rows.map(({ leafIndex, ...row }) => ({ leaf: Number(leafIndex), ...row }));
    },

    /**
     * Leaves with their records, which PostgreSQL joins to one text each: one row per record costs
     * many times as much as the record itself.
     */
    readWholeLeaves: async (from: number, end: number): Promise<PackagedLeaf[]> => {
      const rows = await db.$queryRaw<(Omit<PackagedLeaf, 'leaf'> & { leaf: bigint })[]>`
        SELECT b.leaf_index AS leaf, b.header, b.signature, r.records, r.lines
        FROM ledger_batches b CROSS JOIN LATERAL (
          SELECT count(*)::int AS records,
            -- What cannot be read need not be UTF-8.
            CASE WHEN bool_or(type = ${QUARANTINED}) THEN NULL
              ELSE convert_from(string_agg(bytes, '\\x0a'::bytea ORDER BY seq), 'UTF8')
            END AS lines
          FROM ledger_records
          WHERE tenant_id = b.tenant_id AND stream = b.stream AND epoch = b.epoch
            AND seq BETWEEN b.first_seq AND b.last_seq
        ) r
        WHERE b.tenant_id = ${tenantId}::uuid AND b.leaf_index >= ${from} AND b.leaf_index < ${end}
        ORDER BY b.leaf_index`;
      return rows.map(({ leaf, lines, ...row }) => ({
        ...{ ...row, leaf: Number(leaf) },
        lines: lines === null || mayBeUnreadable(lines) ? null : lines,
      }));
    },

    /** The records of a leaf, in order. */
    readLeaf: async (leaf: number): Promise<PackagedRecord[]> => {
      const rows = await db.$queryRaw<RawRecord[]>`
        SELECT r.stream, r.epoch, r.seq, r.type, r.id, r.subject_id, r.hash, r.prev_hash, r.bytes
        FROM ledger_batches b JOIN ledger_records r
          ON r.tenant_id = b.tenant_id AND r.stream = b.stream AND r.epoch = b.epoch
          AND r.seq BETWEEN b.first_seq AND b.last_seq
        WHERE b.tenant_id = ${tenantId}::uuid AND b.leaf_index = ${leaf} ORDER BY r.seq`;
      return await inTurn(rows);
    },

    /** In the order of `places`. */
    readRecords: async (places: readonly SelectedRecord[]): Promise<PackagedRecord[]> => {
      const rows = await db.$queryRaw<RawRecord[]>`
        SELECT r.stream, r.epoch, r.seq, r.type, r.id, r.subject_id, r.hash, r.prev_hash, r.bytes
        FROM unnest(${places.map(({ stream }) => stream)}::uuid[],
          ${places.map(({ epoch }) => epoch)}::int[],
          ${places.map(({ seq }) => BigInt(seq))}::bigint[]) WITH ORDINALITY
          AS place (stream, epoch, seq, n)
        JOIN ledger_records r ON r.tenant_id = ${tenantId}::uuid AND r.stream = place.stream
          AND r.epoch = place.epoch AND r.seq = place.seq
        ORDER BY place.n`;
      return await inTurn(rows);
    },

    /** The hashes of a batch's records, in order. */
    readHashes: async (leaf: number): Promise<string[]> => {
      const rows = await db.$queryRaw<{ hash: string }[]>`
        SELECT r.hash FROM ledger_batches b JOIN ledger_records r
          ON r.tenant_id = b.tenant_id AND r.stream = b.stream AND r.epoch = b.epoch
          AND r.seq BETWEEN b.first_seq AND b.last_seq
        WHERE b.tenant_id = ${tenantId}::uuid AND b.leaf_index = ${leaf} ORDER BY r.seq`;
      return rows.map(({ hash }) => hash);
    },

    /** The record before a place; undefined at the beginning of the stream. */
    findBefore: async (
      stream: string,
      place: { epoch: number; seq: number },
    ): Promise<PackagedRecord | undefined> => {
      const [row] = await db.$queryRaw<RawRecord[]>`
        SELECT stream, epoch, seq, type, id, subject_id, hash, prev_hash, bytes
        FROM ledger_records WHERE tenant_id = ${tenantId}::uuid AND stream = ${stream}::uuid
          AND (epoch, seq) < (${place.epoch}::int, ${place.seq}::bigint)
        ORDER BY epoch DESC, seq DESC LIMIT 1`;
      return row && (await toPackaged(row));
    },

    /**
     * Where streams begin in a range of leaves, for those whose preceding record is quarantined.
     */
    listBehindQuarantined: async (from: number, end: number) => {
      const rows = await db.$queryRaw<{ stream: string; epoch: number; first_seq: bigint }[]>`
        SELECT f.stream, f.epoch, f.first_seq
        FROM (SELECT DISTINCT ON (stream) stream, epoch, first_seq FROM ledger_batches
          WHERE tenant_id = ${tenantId}::uuid AND leaf_index >= ${from} AND leaf_index < ${end}
          ORDER BY stream, leaf_index) f
        CROSS JOIN LATERAL (SELECT type FROM ledger_records r
          WHERE r.tenant_id = ${tenantId}::uuid AND r.stream = f.stream
            AND (r.epoch, r.seq) < (f.epoch, f.first_seq)
          ORDER BY r.epoch DESC, r.seq DESC LIMIT 1) p
        WHERE p.type = ${QUARANTINED}`;
      return rows.map(({ first_seq, ...row }) => ({ ...row, seq: Number(first_seq) }));
    },

    /** The first batch that contains a record. */
    findBatchOf: async ({
      stream,
      epoch,
      seq,
    }: Pick<PackagedRecord, 'stream' | 'epoch' | 'seq'>) => {
      const row = await db.ledgerBatch.findFirst({
        where: { tenantId, stream, epoch, lastSeq: { gte: BigInt(seq) } },
        select: { leafIndex: true, header: true, signature: true, firstSeq: true },
        orderBy: { lastSeq: 'asc' },
      });
      if (!row) return undefined;
      const { leafIndex, firstSeq, ...rest } = row;
      return { ...rest, epoch, leaf: Number(leafIndex), firstSeq: Number(firstSeq) };
    },

    findWriters: async (streams: readonly string[]) =>
      db.dataPlane.findMany({
        where: { tenantId, deploymentId: { in: [...streams] } },
        select: {
          deploymentId: true,
          signingKey: true,
          status: true,
          statusAt: true,
          createdAt: true,
        },
        orderBy: { deploymentId: 'asc' },
      }),

    /**
     * The signed members of bundles. For a bundle that was built before they were stored
     * separately, they are read from the bundle, as long as it is kept.
     */
    findBundles: async (revisions: readonly number[]): Promise<SignedBundle[]> => {
      const rows = await db.$queryRaw<(Omit<SignedBundle, 'revision'> & { revision: bigint })[]>`
        SELECT revision, digest, manifest, signatures FROM bundle_manifests
        WHERE tenant_id = ${tenantId}::uuid AND revision = ANY(${revisions.map(BigInt)}::bigint[])`;
      const found = rows.map(({ revision, ...row }) => ({ ...row, revision: Number(revision) }));
      const known = new Set(found.map(({ revision }) => revision));
      const others = revisions.filter((revision) => !known.has(revision));
      // Records name as many as they like: only what there is has its bytes read, one by one.
      const kept = await db.$queryRaw<{ revision: bigint }[]>`
        SELECT revision FROM bundles
        WHERE tenant_id = ${tenantId}::uuid AND revision = ANY(${others.map(BigInt)}::bigint[])`;
      for (const { revision } of kept) {
        const key = { tenantId_revision: { tenantId, revision } };
        const bundle = await db.bundle.findUnique({ where: key });
        if (!bundle) continue;
        const signed = readSignedMembers(await unpackArchive(bundle.bytes));
        found.push({ revision: Number(revision), digest: bundle.digest, ...signed });
      }
      return found.sort((a, b) => a.revision - b.revision);
    },
  };
}

async function inTurn(rows: readonly RawRecord[]): Promise<PackagedRecord[]> {
  const records: PackagedRecord[] = [];
  for (const row of rows) records.push(await toPackaged(row));
  return records;
}
