/** Digests of stored pages, which PostgreSQL computes from the rows (verified-pages.ts). */

import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';

interface Place {
  epoch: number;
  seq: number;
}

/** Rows behind `after` up to `end`, as `ChainStore.readPage` reads them. */
export interface PagePlace {
  after: Place & { position: number };
  end: Place;
}

/** Batches behind `after` up to `end`, as `ChainStore.readBatches` reads them. */
export interface BatchPlace {
  after: { epoch: number; lastSeq: number };
  end: Place;
}

export interface PageStore {
  /** For each page, in order. */
  readDigests(
    stream: string,
    pages: readonly { rows: PagePlace; batches: BatchPlace }[],
  ): Promise<string[]>;
}

const hex = (column: Prisma.Sql) =>
  Prisma.sql`coalesce(encode(convert_to(${column}, 'UTF8'), 'hex'), '-')`;
const millis = (column: Prisma.Sql) =>
  Prisma.sql`floor(extract(epoch FROM ${column}) * 1000)::bigint`;

export function pageStore({ db, scope }: TenantTransaction): PageStore {
  const tenant = Prisma.sql`${scope.tenantId}::uuid`;
  return {
    readDigests: async (stream, pages) => {
      const of = (pick: (page: (typeof pages)[number]) => number) => pages.map(pick);
      const rows = await db.$queryRaw<{ digest: string }[]>`
        SELECT encode(sha256(convert_to(coalesce(r.texts, '') || E'\\n' || coalesce(b.texts, ''),
          'UTF8')), 'hex') AS digest
        FROM unnest(${of(({ rows: { after } }) => after.epoch)}::int[],
          ${of(({ rows: { after } }) => after.seq)}::bigint[],
          ${of(({ rows: { after } }) => after.position)}::bigint[],
          ${of(({ batches: { after } }) => after.epoch)}::int[],
          ${of(({ batches: { after } }) => after.lastSeq)}::bigint[],
          ${of(({ rows: { end } }) => end.epoch)}::int[],
          ${of(({ rows: { end } }) => end.seq)}::bigint[])
          WITH ORDINALITY AS page (epoch, seq, position, batch_epoch, batch_seq, end_epoch, end_seq, n)
        CROSS JOIN LATERAL (
          SELECT string_agg(concat_ws('|', l.epoch, l.seq, l.position, ${hex(Prisma.sql`l.type`)},
            l.id, coalesce(l.subject_id::text, '-'), coalesce(l.agent_id::text, '-'),
            ${hex(Prisma.sql`l.policy_result`)}, ${millis(Prisma.sql`l.event_time`)},
            ${millis(Prisma.sql`l.received_at`)}, ${hex(Prisma.sql`l.hash`)},
            ${hex(Prisma.sql`l.prev_hash`)}, encode(sha256(l.bytes), 'hex')), ','
            ORDER BY l.epoch, l.seq, l.position) AS texts
          FROM ledger_records l
          WHERE l.tenant_id = ${tenant} AND l.stream = ${stream}::uuid
            AND (l.epoch, l.seq) >= (page.epoch, page.seq)
            AND (l.epoch, l.seq) <= (page.end_epoch, page.end_seq)
            AND NOT (l.epoch = page.epoch AND l.seq = page.seq AND l.position <= page.position)
        ) r CROSS JOIN LATERAL (
          SELECT string_agg(concat_ws('|', s.epoch, s.first_seq, s.last_seq,
            ${hex(Prisma.sql`s.header`)}, ${hex(Prisma.sql`s.signature`)},
            ${hex(Prisma.sql`(SELECT hash FROM ledger_records e WHERE e.tenant_id = ${tenant}
              AND e.stream = ${stream}::uuid AND e.epoch = s.epoch AND e.seq = s.last_seq LIMIT 1)`)}),
            ',' ORDER BY s.epoch, s.last_seq) AS texts
          FROM ledger_batches s
          WHERE s.tenant_id = ${tenant} AND s.stream = ${stream}::uuid
            AND (s.epoch, s.last_seq) > (page.batch_epoch, page.batch_seq)
            AND (s.epoch, s.last_seq) <= (page.end_epoch, page.end_seq)
        ) b ORDER BY page.n`;
      return rows.map(({ digest }) => digest);
    },
  };
}
