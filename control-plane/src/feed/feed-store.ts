/**
 * Reads a tenant's feed, for readers and compaction. Values that must be consistent are read in one
 * statement.
 */

import type { FeedEntry } from '@governance/shared/channel/facts';
import { damagedRow } from '../platform/database/damaged-rows.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

/** The heads of a tenant's feed, bundle and admin chain. */
export interface FeedHeads {
  seq: number;
  /** The feed's digest at `seq`. */
  digest: string;
  /** Superseded entries up to here are removed; an older cursor needs a snapshot. */
  compactedSeq: number;
  /** The newest bundle. */
  bundle: { revision: number; digest: string } | null;
  /** The last record of the admin chain; null before the first. */
  admin: AdminChainHead | null;
}

export interface AdminChainHead {
  stream: string;
  epoch: number;
  seq: number;
  hash: string;
}

export interface StoredPage {
  heads: FeedHeads;
  /** The digest at the requested cursor; null when it is not known. */
  cursorDigest: string | null;
  entries: FeedEntry[];
}

/** @returns the seqs of approvals among the entries that nobody gave */
export type FindUnbacked = (
  tx: TenantTransaction,
  entries: readonly FeedEntry[],
) => Promise<ReadonlySet<number>>;
/** Reads the keys, before the transaction: inside it would take a second connection. */
export type PrepareApprovals = () => Promise<FindUnbacked>;

/** Where a snapshot's page ended. */
export interface SnapshotPlace {
  kind: string;
  key: string;
}

/**
 * Bound of the values of a page; the last value may exceed it. A fact may have a megabyte (a role
 * with the most permissions), and a thousand of those are more than a data plane accepts or this
 * process should hold.
 */
export const PAGE_BYTES = 2 * 1024 * 1024;

interface HeadsRow {
  feed_seq: bigint;
  feed_digest: string;
  compacted_seq: bigint;
  bundle_revision: bigint | null;
  bundle_digest: string | null;
  admin_stream: string;
  admin_epoch: number;
  admin_seq: bigint;
  admin_head: string;
}

interface EntryRow {
  seq: bigint;
  kind: string;
  key: string;
  value: string | null;
}

export function feedStore({ db, scope: { tenantId } }: Pick<TenantTransaction, 'db' | 'scope'>) {
  return {
    /** The heads, the digest at the cursor, and the entries after it as far as PAGE_BYTES go. */
    readPage: async (cursor: number, limit: number): Promise<StoredPage> => {
      const rows = await db.$queryRaw<
        (HeadsRow & { cursor_digest: string | null } & (EntryRow | { seq: null }))[]
      >`
        SELECT h.feed_seq, h.feed_digest, h.compacted_seq,
          h.admin_stream, h.admin_epoch, h.admin_seq, h.admin_head,
          b.revision AS bundle_revision, b.digest AS bundle_digest,
          CASE ${cursor}::bigint WHEN h.feed_seq THEN h.feed_digest
            WHEN h.compacted_seq THEN h.compacted_digest
            ELSE (SELECT digest FROM feed_entries
              WHERE tenant_id = h.tenant_id AND seq = ${cursor}::bigint) END AS cursor_digest,
          e.seq, e.kind, e.key, e.value
        FROM tenant_heads h
        LEFT JOIN bundles b ON b.tenant_id = h.tenant_id AND b.revision = h.bundle_revision
        LEFT JOIN LATERAL (
          SELECT seq, kind, key, value FROM (
            SELECT seq, kind, key, value, octet_length(value) AS bytes,
              sum(octet_length(value)) OVER (ORDER BY seq) AS sum
            FROM (
              SELECT seq, kind, key, value FROM feed_entries
              WHERE tenant_id = h.tenant_id AND seq > ${cursor}::bigint ORDER BY seq LIMIT ${limit}
            ) page
          ) counted
          WHERE COALESCE(sum, 0) - COALESCE(bytes, 0) < ${PAGE_BYTES}
        ) e ON true
        WHERE h.tenant_id = ${tenantId}::uuid ORDER BY e.seq`;
      const [first] = rows;
      if (!first) throw damagedRow(`tenant_heads ${tenantId}`, 'it is gone');
      return {
        heads: toHeads(first),
        cursorDigest: first.cursor_digest,
        entries: rows.flatMap((row) => (row.seq === null ? [] : [toEntry(row)])),
      };
    },

    readHeads: async (): Promise<FeedHeads> => {
      const [row] = await db.$queryRaw<HeadsRow[]>`
        SELECT h.feed_seq, h.feed_digest, h.compacted_seq,
          h.admin_stream, h.admin_epoch, h.admin_seq, h.admin_head,
          b.revision AS bundle_revision, b.digest AS bundle_digest
        FROM tenant_heads h
        LEFT JOIN bundles b ON b.tenant_id = h.tenant_id AND b.revision = h.bundle_revision
        WHERE h.tenant_id = ${tenantId}::uuid`;
      if (!row) throw damagedRow(`tenant_heads ${tenantId}`, 'it is gone');
      return toHeads(row);
    },

    /**
     * The newest entry of each (kind, key) after a place, in that order, without tombstones, as far
     * as PAGE_BYTES go.
     *
     * @returns the entries, and the place to continue at; undefined at the end
     */
    readSnapshotPage: async (
      after: SnapshotPlace | undefined,
      limit: number,
    ): Promise<{ entries: FeedEntry[]; next: SnapshotPlace | undefined }> => {
      const { kind, key } = after ?? { kind: '', key: '' };
      const rows = await db.$queryRaw<(EntryRow & { found: bigint })[]>`
        SELECT seq, kind, key, value, found FROM (
          SELECT seq, kind, key, value, octet_length(value) AS bytes, count(*) OVER () AS found,
            sum(octet_length(value)) OVER (ORDER BY kind, key) AS sum
          FROM (
            SELECT DISTINCT ON (kind, key) seq, kind, key, value FROM feed_entries
            WHERE tenant_id = ${tenantId}::uuid AND (kind, key) > (${kind}, ${key})
            ORDER BY kind, key, seq DESC LIMIT ${limit}
          ) page
        ) counted
        WHERE COALESCE(sum, 0) - COALESCE(bytes, 0) < ${PAGE_BYTES} ORDER BY kind, key`;
      const last = rows.at(-1);
      const found = Number(last?.found ?? 0);
      const isEnd = found < limit && rows.length === found;
      return {
        entries: rows.filter(({ value }) => value !== null).map(toEntry),
        next: isEnd || !last ? undefined : { kind: last.kind, key: last.key },
      };
    },
  };
}

function toHeads(row: HeadsRow): FeedHeads {
  const { bundle_revision: revision, bundle_digest: digest } = row;
  return {
    seq: Number(row.feed_seq),
    digest: row.feed_digest,
    compactedSeq: Number(row.compacted_seq),
    bundle: revision === null || digest === null ? null : { revision: Number(revision), digest },
    admin: row.admin_seq === 0n ? null : toAdminHead(row),
  };
}

function toAdminHead(row: HeadsRow): AdminChainHead {
  const { admin_stream: stream, admin_epoch: epoch, admin_seq: seq, admin_head: hash } = row;
  return { stream, epoch, seq: Number(seq), hash };
}

function toEntry({ seq, kind, key, value }: EntryRow): FeedEntry {
  return { seq: Number(seq), kind, key, value: value === null ? null : JSON.parse(value) };
}
