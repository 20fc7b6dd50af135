/** Results that wait for a person: states and wire shapes. */

import { Severity } from '@governance/shared/ledger/ledger-record';
import { z } from 'zod';
import { readStored } from '../platform/database/damaged-rows.ts';
import type { Escalation } from '../platform/generated/client.ts';
import type { Decision, EscalationStatus } from './escalation.ts';
import { heldFields, toHeldFields } from './held-view.ts';

export const InboundHoldStatus = z.enum([
  'pending',
  'allowed_sanitized',
  'allowed_original',
  'blocked',
  'timed_out',
]);
export type InboundHoldStatus = z.infer<typeof InboundHoldStatus>;

/** What a person may decide (specification 1, section 6). */
export const InboundResolution = z.enum(['allow_sanitized', 'allow_original', 'block']);
export type InboundResolution = z.infer<typeof InboundResolution>;

/** The decision that each resolution stores in the row. */
export const DECISIONS = {
  allow_sanitized: { status: 'approved', release: 'sanitized' },
  allow_original: { status: 'approved', release: 'original' },
  block: { status: 'denied' },
} as const satisfies Record<InboundResolution, Omit<Decision, 'notes'>>;

export type StoredStatus = { readonly status: EscalationStatus; readonly release?: string };

/** The row's values for each status. */
export const STORED: Record<InboundHoldStatus, StoredStatus> = {
  pending: { status: 'pending' },
  allowed_sanitized: { status: 'approved', release: 'sanitized' },
  allowed_original: { status: 'approved', release: 'original' },
  blocked: { status: 'denied' },
  timed_out: { status: 'timed_out' },
};

/** The present status of a held result. */
export function statusOfResult({
  status,
  release,
}: Pick<Escalation, 'status' | 'release'>): InboundHoldStatus {
  if (status === 'approved')
    return release === 'original' ? 'allowed_original' : 'allowed_sanitized';
  return status === 'denied' ? 'blocked' : InboundHoldStatus.parse(status);
}

const Findings = z.array(
  z.looseObject({
    class: z.string(),
    severity: Severity,
    /** A JSON Pointer into the result. */
    place: z.string().optional(),
    score: z.number().optional(),
  }),
);

const StoredFindings = z.array(z.looseObject({ class: z.string(), severity: Severity }));

/**
 * The known fields of the findings that a data plane recorded; other fields are unchecked and may
 * be long.
 */
function findingsOf({
  id,
  findings,
}: Pick<Escalation, 'id' | 'findings'>): z.infer<typeof Findings> {
  return readStored(StoredFindings, findings, `escalations ${id}`).map(
    ({ class: of, severity, place, length, score }) => ({
      ...{ class: of, severity },
      ...(typeof place === 'string' && { place }),
      ...(typeof length === 'number' && { length }),
      ...(typeof score === 'number' && { score }),
    }),
  );
}

export const InboundHoldView = z
  .object({
    id: z.string(),
    status: InboundHoldStatus,
    ...heldFields,
    /** Severity of the worst finding. */
    severity: Severity,
    /** The first 50: class, severity, place, length and score, and never the text. */
    findings: Findings,
    findings_count: z.int(),
    result_bytes: z.int(),
  })
  .meta({ id: 'InboundHold' });
export type InboundHoldView = z.infer<typeof InboundHoldView>;

export function toHoldView(row: Escalation): InboundHoldView {
  return {
    id: row.id,
    status: statusOfResult(row),
    ...toHeldFields(row),
    severity: readStored(Severity, row.severity, `escalations ${row.id}`),
    findings: findingsOf(row),
    findings_count: row.findingsCount ?? 0,
    result_bytes: row.resultBytes ?? 0,
  };
}
