/** The stored progress of a tenant's verification walks. */
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { LOG_STREAM } from './chain-breaks.ts';
import { type LogMark, readLogMark } from './log-mark.ts';
import { readMark, type StreamMark } from './stream-mark.ts';

/** `new`: records since the previous run; `full`: all records, once a day. */
export type WalkKind = 'new' | 'full';

export interface Walk {
  /** When the walk in progress began; null when none is. */
  startedAt: Date | null;
  /** The newest position in the order of receipt when the walk began. */
  upTo: number;
  /** The breaks found so far. */
  breaks: number;
  /** The last finished walk; null before the first. */
  finished: { at: Date; records: number; leaves: number; upTo: number; breaks: number } | null;
}

export function verificationStore({ db, scope: { tenantId } }: TenantTransaction) {
  const at = (kind: WalkKind) => ({ tenantId_kind: { tenantId, kind } });
  return {
    find: async (kind: WalkKind): Promise<Walk | undefined> => {
      const row = await db.verificationWalk.findUnique({ where: at(kind) });
      if (!row) return undefined;
      return {
        startedAt: row.startedAt,
        upTo: Number(row.upToPosition),
        breaks: row.breaks,
        finished: row.finishedAt && {
          at: row.finishedAt,
          records: Number(row.finishedRecords),
          leaves: Number(row.finishedLeaves),
          upTo: Number(row.finishedPosition),
          breaks: row.finishedBreaks,
        },
      };
    },

    begin: async (kind: WalkKind, upTo: number, now: Date): Promise<void> => {
      const started = { startedAt: now, upToPosition: BigInt(upTo), breaks: 0 };
      await db.verificationWalk.upsert({
        where: at(kind),
        create: { tenantId, kind, ...started },
        update: started,
      });
    },

    addBreaks: async (kind: WalkKind, breaks: number): Promise<void> => {
      if (breaks === 0) return;
      await db.verificationWalk.update({
        where: at(kind),
        data: { breaks: { increment: breaks } },
      });
    },

    finish: async (
      kind: WalkKind,
      end: { records: number; leaves: number; upTo: number; breaks: number },
      now: Date,
    ): Promise<void> => {
      const finished = {
        startedAt: null,
        finishedAt: now,
        finishedRecords: BigInt(end.records),
        finishedLeaves: BigInt(end.leaves),
        finishedPosition: BigInt(end.upTo),
        finishedBreaks: end.breaks,
      };
      await db.verificationWalk.upsert({
        where: at(kind),
        create: { tenantId, kind, ...finished },
        update: finished,
      });
    },

    readMarks: async (kind: WalkKind): Promise<Map<string, StreamMark>> => {
      const where = { tenantId, kind, stream: { not: LOG_STREAM } };
      const rows = await db.verificationMark.findMany({ where });
      const marks = new Map<string, StreamMark>();
      for (const { stream, mark: text } of rows) {
        const mark = readMark(text);
        if (mark) marks.set(stream, mark);
      }
      return marks;
    },

    findLogMark: async (kind: WalkKind): Promise<LogMark | undefined> => {
      const where = { tenantId_kind_stream: { tenantId, kind, stream: LOG_STREAM } };
      const row = await db.verificationMark.findUnique({ where });
      return row ? readLogMark(row.mark) : undefined;
    },

    /** The log's mark is stored under LOG_STREAM. */
    saveMarks: async (
      kind: WalkKind,
      marks: readonly (readonly [stream: string, mark: StreamMark | LogMark])[],
      now: Date,
    ): Promise<void> => {
      if (marks.length === 0) return;
      await db.$executeRaw`
        INSERT INTO verification_marks (tenant_id, kind, stream, mark, updated_at)
        SELECT ${tenantId}::uuid, ${kind}, stream, mark, ${now}
        FROM unnest(${marks.map(([stream]) => stream)}::uuid[],
          ${marks.map(([, mark]) => JSON.stringify(mark))}::text[]) AS given (stream, mark)
        ON CONFLICT (tenant_id, kind, stream)
        DO UPDATE SET mark = excluded.mark, updated_at = excluded.updated_at`;
    },

    dropMarks: async (kind: WalkKind): Promise<void> => {
      await db.verificationMark.deleteMany({ where: { tenantId, kind } });
    },
  };
}
