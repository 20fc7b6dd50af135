/** Results that wait for a person: states and wire shapes. */
import { RiskTier, Severity } from '@governance/shared/ledger-record';
import { z } from 'zod';
import type { Escalation } from '../platform/generated/client.ts';
import { type Decision, type EscalationStatus, grantOf } from './escalation.ts';

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
function findingsOf({ findings }: Pick<Escalation, 'findings'>): z.infer<typeof Findings> {
  return StoredFindings.parse(findings).map(({ class: of, severity, place, length, score }) => ({
    ...{ class: of, severity },
    ...(typeof place === 'string' && { place }),
    ...(typeof length === 'number' && { length }),
    ...(typeof score === 'number' && { score }),
  }));
}

export const InboundHoldView = z
  .object({
    id: z.string(),
    status: InboundHoldStatus,
    agent_id: z.string(),
    requester_id: z.string().nullable(),
    mcp_server: z.string(),
    method: z.string(),
    tool_name: z.string(),
    target: z.string(),
    risk_tier: RiskTier,
    /** Severity of the worst finding. */
    severity: Severity,
    /** The first 50: class, severity, place, length and score, and never the text. */
    findings: Findings,
    findings_count: z.int(),
    result_bytes: z.int(),
    /** The audit event of the call that produced the result. */
    event_id: z.string(),
    /** The data plane that holds the result. */
    deployment_id: z.string(),
    timestamp: z.string(),
    timeout_at: z.string(),
    resolved_at: z.string().nullable(),
    /** Null when nobody decided: pending, or timed out. */
    resolved_by: z.string().nullable(),
    notes: z.string().nullable(),
    /** For a released result: it may be handed over once, until `expires_at`. */
    grant: z.object({ id: z.string(), expires_at: z.string() }).nullable(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'InboundHold' });
export type InboundHoldView = z.infer<typeof InboundHoldView>;

export function toHoldView(row: Escalation): InboundHoldView {
  return {
    id: row.id,
    status: statusOfResult(row),
    agent_id: row.agentId,
    requester_id: row.requesterId,
    mcp_server: row.mcpServer,
    method: row.method,
    tool_name: row.toolName,
    target: row.target,
    risk_tier: RiskTier.parse(row.riskTier),
    severity: Severity.parse(row.severity),
    findings: findingsOf(row),
    findings_count: row.findingsCount ?? 0,
    result_bytes: row.resultBytes ?? 0,
    event_id: row.eventId,
    deployment_id: row.deploymentId,
    timestamp: row.openedAt.toISOString(),
    timeout_at: row.timeoutAt.toISOString(),
    resolved_at: row.resolvedAt?.toISOString() ?? null,
    resolved_by: row.resolvedBy,
    notes: row.notes,
    grant: grantOf(row),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
