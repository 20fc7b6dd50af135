import { GivenId, Text } from '@governance/shared/text';
import { z } from 'zod';
import type { ChainBreak as ChainBreakRow } from '../platform/generated/client.ts';
import { listOf, pageQuery } from '../platform/http/schemas.ts';
import { checkOf } from './break-check.ts';
import type { Verification, VerificationProgress } from './chain-verification.ts';

export const VerifyQuery = z.object({
  /** Whether to verify now even if a recent result could be reused. */
  fresh: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
});

const FoundBreakView = z.object({
  stream: z.string(),
  epoch: z.int(),
  seq: z.int(),
  kind: z.string(),
  /** The named check of evidence that fails; null where no package could show it. */
  check: z.string().nullable(),
  expected: z.string(),
  actual: z.string(),
  detail: z.string().nullable(),
  /**
   * Only for breaks that no walk finds again (standing-breaks.ts: `fork`, `admin_head_went_back`,
   * `log_went_back`).
   */
  acknowledged: z.boolean().optional(),
  /** The announced restore that explains the break; the chain stays invalid all the same. */
  explained_by: z.object({ announced_at: z.string(), seq: z.int(), reason: z.string() }).optional(),
});

/** A finished background walk, and the position in the order of receipt that it reached. */
const FinishedWalk = z.object({
  finished_at: z.string(),
  up_to_position: z.int(),
  records: z.int(),
  /** Leaves of the tenant's log, each a signed batch. */
  leaves: z.int(),
  breaks: z.int(),
});

const BackgroundView = z.object({
  /** The walk over new records. `records` includes those of earlier runs. */
  new: FinishedWalk.nullable(),
  /** The daily walk over all records. */
  full: FinishedWalk.nullable(),
  /** The daily walk in progress, with its counts so far. */
  full_running: z
    .object({
      started_at: z.string(),
      up_to_position: z.int(),
      records: z.int(),
      leaves: z.int(),
      breaks: z.int(),
    })
    .nullable(),
});

export const VerificationView = z
  .object({
    valid: z.boolean(),
    verified_at: z.string(),
    /** Whether a recent result was reused. */
    cached: z.boolean(),
    duration_ms: z.number(),
    records_verified: z.int(),
    /** How many of them are in quarantine, since they could not be read or stored. */
    records_quarantined: z.int(),
    /**
     * How many of them earlier versions stored although no verifier reads them (too large, nested
     * too deeply): their chain is verified, and packages show them as unread (`events.schema`
     * warns).
     */
    records_unread: z.int(),
    /**
     * Leaves of the tenant's log: signed batches, verified with the tree and everything signed
     * about it.
     */
    leaves_verified: z.int(),
    streams: z.array(
      z.object({
        stream: z.string(),
        kind: z.enum(['admin', 'data_plane', 'unknown']),
        /** Epoch and hash of the stream's last record; 0 and null for an empty stream. */
        epoch: z.int(),
        head: z.string().nullable(),
        records: z.int(),
        records_quarantined: z.int(),
        records_unread: z.int(),
        valid: z.boolean(),
        first_break: FoundBreakView.optional(),
      }),
    ),
    /** The first breaks of each stream. */
    breaks: z.array(FoundBreakView),
    breaks_total: z.int(),
    /** Recorded breaks that nobody has acknowledged and no announced restore explains. */
    breaks_open: z.int(),
    /** What the service verifies in the background. */
    background: BackgroundView,
  })
  .meta({ id: 'ChainVerification' });

export function toVerificationView(
  verification: Verification,
  cached: boolean,
  progress: VerificationProgress,
): z.input<typeof VerificationView> {
  return {
    valid: verification.valid,
    verified_at: verification.verifiedAt.toISOString(),
    cached,
    duration_ms: Math.round(verification.durationMs),
    records_verified: verification.recordsVerified,
    records_quarantined: verification.recordsQuarantined,
    records_unread: verification.recordsUnread,
    leaves_verified: verification.leavesVerified,
    streams: verification.streams.map(
      ({ stream, kind, records, quarantined, unread, end, firstBreak }) => ({
        stream,
        kind,
        epoch: end?.epoch ?? 0,
        head: end?.head ?? null,
        records,
        records_quarantined: quarantined,
        records_unread: unread,
        valid: firstBreak === null,
        ...(firstBreak ? { first_break: toFoundBreakView(firstBreak) } : {}),
      }),
    ),
    breaks: verification.breaks.map(toFoundBreakView),
    breaks_total: verification.breakCount,
    breaks_open: verification.breaksOpen,
    background: toBackgroundView(progress),
  };
}

function toBackgroundView(progress: VerificationProgress): z.input<typeof BackgroundView> {
  const { running } = progress;
  return {
    new: toFinishedWalk(progress.new),
    full: toFinishedWalk(progress.full),
    full_running: running && {
      started_at: running.startedAt.toISOString(),
      up_to_position: running.upTo,
      records: running.records,
      leaves: running.leaves,
      breaks: running.breaks,
    },
  };
}

function toFinishedWalk(walk: VerificationProgress['new']): z.input<typeof FinishedWalk> | null {
  if (!walk) return null;
  const { at, upTo, records, leaves, breaks } = walk;
  return { finished_at: at.toISOString(), up_to_position: upTo, records, leaves, breaks };
}

function toFoundBreakView(found: Verification['breaks'][number]): z.input<typeof FoundBreakView> {
  const { stream, epoch, seq, kind, expected, actual, detail, isAcknowledged, explainedBy } = found;
  const check = checkOf(found);
  return {
    stream,
    epoch,
    seq,
    kind,
    check,
    expected,
    actual,
    detail,
    ...(isAcknowledged === undefined ? {} : { acknowledged: isAcknowledged }),
    ...(explainedBy
      ? {
          explained_by: {
            announced_at: explainedBy.at,
            seq: explainedBy.seq,
            reason: explainedBy.reason,
          },
        }
      : {}),
  };
}

export const BreakQuery = z.object({
  acknowledged: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  ...pageQuery({ default: 100, max: 1000 }),
});

export const BreakParams = z.object({ id: GivenId });

export const AcknowledgeBody = z
  .strictObject({ notes: Text.max(10_000).nullable().default(null) })
  .nullish()
  .transform((body) => body ?? { notes: null });

export const BreakView = z
  .object({
    id: z.string(),
    stream: z.string(),
    epoch: z.int(),
    seq: z.int(),
    kind: z.string(),
    check: z.string().nullable(),
    expected: z.string().nullable(),
    actual: z.string().nullable(),
    detail: z.string().nullable(),
    detected_at: z.string(),
    acknowledged_at: z.string().nullable(),
    acknowledged_by: z.string().nullable(),
    notes: z.string().nullable(),
  })
  .meta({ id: 'ChainBreak' });

export const BreakList = listOf('breaks', BreakView);

export function toBreakView(row: ChainBreakRow): z.input<typeof BreakView> {
  return {
    id: row.id,
    stream: row.stream,
    epoch: row.epoch,
    seq: Number(row.seq),
    kind: row.kind,
    check: row.checkName,
    expected: row.expected,
    actual: row.actual,
    detail: row.detail,
    detected_at: row.detectedAt.toISOString(),
    acknowledged_at: row.acknowledgedAt?.toISOString() ?? null,
    acknowledged_by: row.acknowledgedBy,
    notes: row.notes,
  };
}
