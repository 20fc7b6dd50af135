/**
 * What a person sees before deciding: the call, its arguments as far as data protection permits,
 * and what the agent did before. Anything that is withheld is reported as withheld.
 */
import { AppError } from '@governance/shared/errors';
import type { PayloadPart } from '@governance/shared/event-payload';
import { z } from 'zod';
import { toAuditEvent } from '../audit/audit-event.ts';
import { auditStore } from '../audit/audit-store.ts';
import type { PayloadService } from '../payloads/payload-service.ts';
import { payloadStore } from '../payloads/payload-store.ts';
import { readProtectionPolicy } from '../payloads/protection-policy.ts';
import type { Escalation } from '../platform/generated/client.ts';
import type { TenantDatabase, TenantScope, TenantTransaction } from '../platform/tenant-scope.ts';
import { EscalationView, toView } from './escalation.ts';
import { escalationStore } from './escalation-store.ts';

/** The window of earlier events that are shown, and their highest number; the newest are shown. */
const BEFORE_MS = 15 * 60_000;
const MAX_EVENTS = 20;

/**
 * Why the arguments are not shown as the agent gave them. `not_kept`: calls are not kept, or this
 * one is not yet stored; `encrypted`: only the decrypt route shows them; `unreadable`: they cannot
 * be read; `redacted`: parts were removed; `role`: the caller's role is read-only.
 */
export const Withheld = z.enum(['not_kept', 'encrypted', 'unreadable', 'redacted', 'role']);
export type Withheld = z.infer<typeof Withheld>;

export const RecentEvent = z.object({
  id: z.string(),
  timestamp: z.string(),
  action: z.string().nullable(),
  target: z.string().nullable(),
  tool_name: z.string().nullable(),
  mcp_server: z.string().nullable(),
  policy_result: z.string().nullable(),
  policy_reason: z.string().nullable(),
  outcome: z.string().nullable(),
});

export type RecentEvent = z.infer<typeof RecentEvent>;

export const EscalationDetail = EscalationView.extend({
  agent: z.object({ id: z.string(), name: z.string(), risk_tier: z.string() }).nullable(),
  /** Null when withheld entirely. */
  arguments: z.record(z.string(), z.unknown()).nullable(),
  arguments_withheld: Withheld.nullable(),
  /** The audit event that used the approval, once its record has arrived. */
  used_by_event: z.string().nullable(),
  /** What the agent did in the 15 minutes before, newest first, 20 events at most. */
  recent_events: z.array(RecentEvent),
}).meta({ id: 'EscalationDetail' });
export type EscalationDetail = z.infer<typeof EscalationDetail>;

export type EscalationDetails = ReturnType<typeof createEscalationDetails>;

/** The part of a stored policy input that is shown here. */
const KeptInput = z.object({
  request: z.object({ parameters: z.record(z.string(), z.unknown()) }),
});

export function createEscalationDetails(deps: {
  db: Pick<TenantDatabase, 'inTenant'>;
  payloads: Pick<PayloadService, 'show'>;
}) {
  const { db, payloads } = deps;

  /** Each reading of stored arguments is audited. */
  async function readArguments(scope: TenantScope, eventId: string) {
    try {
      const { input } = await payloads.show(scope, eventId);
      return KeptInput.parse(input).request.parameters;
    } catch {
      return null;
    }
  }

  return {
    /** @throws AppError ESCALATION_NOT_FOUND */
    get: async (scope: TenantScope, id: string): Promise<EscalationDetail> => {
      const { withheld, ...found } = await db.inTenant(scope, async (tx) => {
        const row = await escalationStore(tx).find(id);
        if (row === undefined) throw new AppError('ESCALATION_NOT_FOUND');
        return {
          ...toView(row),
          agent: await findAgent(tx, row.agentId),
          used_by_event: await findUse(tx, row),
          recent_events: await listRecentEvents(tx, row),
          // A role that cannot decide sees no payload.
          withheld:
            scope.actor.role === 'auditor' ? 'role' : await findWithheld(tx, row.eventId, 'input'),
        };
      });
      const isShown = withheld === null || withheld === 'redacted';
      const shown = isShown ? await readArguments(scope, found.event_id) : null;
      const why = isShown && shown === null ? 'unreadable' : withheld;
      return { ...found, arguments: shown, arguments_withheld: why };
    },
  };
}

/** What the agent did in the window before the escalation, newest first. */
export async function listRecentEvents(
  tx: TenantTransaction,
  { agentId, openedAt: to }: Pick<Escalation, 'agentId' | 'openedAt'>,
): Promise<RecentEvent[]> {
  const from = new Date(to.getTime() - BEFORE_MS);
  // The range is half-open, so that the held call itself is excluded.
  const page = { limit: MAX_EVENTS, offset: 0 };
  const events = await auditStore(tx).listEvents({ agentId, from, to }, page);
  return events.map(({ row, outcomeBytes }) => RecentEvent.parse(toAuditEvent(row, outcomeBytes)));
}

/** How many of the agent's events are searched for the one that used its approval. */
const MAX_LOOKED = 200;
/** The largest clock difference between the planes that is tolerated. */
const APART_MS = 60_000;

export async function findUse(
  tx: TenantTransaction,
  { agentId, grantId, resolvedAt, grantExpiresAt }: Escalation,
): Promise<string | null> {
  if (grantId === null || resolvedAt === null || grantExpiresAt === null) return null;
  const from = new Date(resolvedAt.getTime() - APART_MS);
  const to = new Date(grantExpiresAt.getTime() + APART_MS);
  const filter = { agentId, policyResult: 'allow', from, to } as const;
  const events = await auditStore(tx).listEvents(filter, { limit: MAX_LOOKED, offset: 0 });
  const used = events.find(({ row }) => toAuditEvent(row, null).grant_id === grantId);
  return used?.row.id ?? null;
}

export async function findAgent({ db, scope: { tenantId } }: TenantTransaction, id: string) {
  const agent = await db.agent.findUnique({
    where: { tenantId_id: { tenantId, id } },
    select: { id: true, name: true, riskTier: true },
  });
  return agent && { id: agent.id, name: agent.name, risk_tier: agent.riskTier };
}

/** Why part of a call is not shown as it was; null when it is. */
export async function findWithheld(
  tx: TenantTransaction,
  eventId: string,
  of: PayloadPart,
): Promise<Withheld | null> {
  const parts = (await payloadStore(tx).find(eventId)).filter(({ part }) => part === of);
  if (parts.length === 0) return 'not_kept';
  if (parts.some(({ isEncrypted }) => isEncrypted)) return 'encrypted';
  const { payloadMode, redactDlpMatches, redactFields } = await readProtectionPolicy(tx);
  const isRedacted = payloadMode === 'redacted' || redactDlpMatches || redactFields.length > 0;
  return isRedacted ? 'redacted' : null;
}
