import { PolicyResult } from '@governance/shared/ledger-record';
import { Id, Text } from '@governance/shared/text';
import { z } from 'zod';
import type { ChainBreak as ChainBreakRow } from '../platform/generated/client.ts';
import { pageQuery } from '../platform/http/schemas.ts';
import { AuditEvent } from './audit-event.ts';
import type { FoundBreak } from './chain-breaks.ts';
import type { Verification } from './chain-verification.ts';

/** Any ISO 8601 time with its offset; what lies before 1970 is taken as its beginning. */
const QueryTime = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(Math.max(0, Date.parse(text))))
  .refine((time) => !Number.isNaN(time.getTime()), 'must be a time');

export const EventQuery = z
  .object({
    agent_id: Id.optional(),
    policy_result: PolicyResult.optional(),
    from: QueryTime.optional(),
    to: QueryTime.optional(),
    ...pageQuery({ default: 100, max: 1000 }),
  })
  .refine(({ from, to }) => !from || !to || from <= to, {
    message: 'must not be before from',
    path: ['to'],
  })
  // Reading past this many rows takes seconds: from and to get there at once.
  .refine(({ offset }) => offset <= 1_000_000, {
    message: 'must be at most 1000000: narrow the list with from and to',
    path: ['offset'],
  });

export const EventList = z.object({
  events: z.array(AuditEvent),
  total: z.int(),
  /** False when there are more than `total` events. */
  total_is_exact: z.boolean(),
});

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
  expected: z.string(),
  actual: z.string(),
  detail: z.string().nullable(),
});

export const VerificationView = z
  .object({
    valid: z.boolean(),
    verified_at: z.string(),
    /** Whether this is a recent result, reused. */
    cached: z.boolean(),
    duration_ms: z.number(),
    records_verified: z.int(),
    /** Of these, links of a chain that could not be read and lie in quarantine. */
    records_quarantined: z.int(),
    streams: z.array(
      z.object({
        stream: z.string(),
        kind: z.enum(['admin', 'data_plane', 'unknown']),
        /** Of its last record; 0 and null where it has none. */
        epoch: z.int(),
        head: z.string().nullable(),
        records: z.int(),
        records_quarantined: z.int(),
        valid: z.boolean(),
        first_break: FoundBreakView.optional(),
      }),
    ),
    /** The first of each stream. */
    breaks: z.array(FoundBreakView),
    breaks_total: z.int(),
  })
  .meta({ id: 'ChainVerification' });

export function toVerificationView(
  verification: Verification,
  cached: boolean,
): z.input<typeof VerificationView> {
  return {
    valid: verification.valid,
    verified_at: verification.verifiedAt.toISOString(),
    cached,
    duration_ms: Math.round(verification.durationMs),
    records_verified: verification.recordsVerified,
    records_quarantined: verification.recordsQuarantined,
    streams: verification.streams.map(
      ({ stream, kind, records, quarantined, end, firstBreak }) => ({
        stream,
        kind,
        epoch: end?.epoch ?? 0,
        head: end?.head ?? null,
        records,
        records_quarantined: quarantined,
        valid: firstBreak === null,
        ...(firstBreak ? { first_break: toFoundBreakView(firstBreak) } : {}),
      }),
    ),
    breaks: verification.breaks.map(toFoundBreakView),
    breaks_total: verification.breakCount,
  };
}

function toFoundBreakView(found: FoundBreak): z.input<typeof FoundBreakView> {
  const { stream, epoch, seq, kind, expected, actual, detail } = found;
  return { stream, epoch, seq, kind, expected, actual, detail };
}

export const BreakQuery = z.object({
  acknowledged: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  ...pageQuery({ default: 100, max: 1000 }),
});

export const BreakParams = z.object({ id: Id });

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
    expected: z.string().nullable(),
    actual: z.string().nullable(),
    detail: z.string().nullable(),
    detected_at: z.string(),
    acknowledged_at: z.string().nullable(),
    acknowledged_by: z.string().nullable(),
    notes: z.string().nullable(),
  })
  .meta({ id: 'ChainBreak' });

export const BreakList = z.object({ breaks: z.array(BreakView), total: z.int() });

export function toBreakView(row: ChainBreakRow): z.input<typeof BreakView> {
  return {
    id: row.id,
    stream: row.stream,
    epoch: row.epoch,
    seq: Number(row.seq),
    kind: row.kind,
    expected: row.expected,
    actual: row.actual,
    detail: row.detail,
    detected_at: row.detectedAt.toISOString(),
    acknowledged_at: row.acknowledgedAt?.toISOString() ?? null,
    acknowledged_by: row.acknowledgedBy,
    notes: row.notes,
  };
}
