/** The part of the views of escalations and of inbound holds that is the same for both. */

import { RiskTier } from '@governance/shared/ledger/ledger-record';
import { z } from 'zod';
import { readStored } from '../platform/database/damaged-rows.ts';
import type { Escalation } from '../platform/generated/client.ts';

/** Fields of both views, besides id and status. */
export const heldFields = {
  agent_id: z.string(),
  requester_id: z.string().nullable(),
  mcp_server: z.string(),
  method: z.string(),
  tool_name: z.string(),
  target: z.string(),
  risk_tier: RiskTier,
  /** The audit event of the decision about the call. */
  event_id: z.string(),
  /** The data plane that holds the call or its result. */
  deployment_id: z.string(),
  timestamp: z.string(),
  timeout_at: z.string(),
  resolved_at: z.string().nullable(),
  /** Null when nobody decided: pending, or timed out. */
  resolved_by: z.string().nullable(),
  notes: z.string().nullable(),
  /**
   * For an approved call, which may be forwarded once, or a released result, which may be handed
   * over once: until `expires_at`. The event that used the grant names its id.
   */
  grant: z.object({ id: z.string(), expires_at: z.string() }).nullable(),
  created_at: z.string(),
  updated_at: z.string(),
};
type HeldFields = z.infer<z.ZodObject<typeof heldFields>>;

export function toHeldFields(row: Escalation): HeldFields {
  return {
    agent_id: row.agentId,
    requester_id: row.requesterId,
    mcp_server: row.mcpServer,
    method: row.method,
    tool_name: row.toolName,
    target: row.target,
    risk_tier: readStored(RiskTier, row.riskTier, `escalations ${row.id}`),
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

export function grantOf({ grantId, grantExpiresAt }: Escalation) {
  if (grantId === null || grantExpiresAt === null) return null;
  return { id: grantId, expires_at: grantExpiresAt.toISOString() };
}
