/**
 * What a person sees of a held call or result before deciding, besides the row: what was kept of it
 * as far as data protection permits, and what the agent did before. Anything that is withheld is
 * reported as withheld.
 */
import { AppError, type ErrorCode } from '@governance/shared/errors';
import type { PayloadPart } from '@governance/shared/evidence/event-payload';
import { z } from 'zod';
import { toAuditEvent } from '../audit/audit-event.ts';
import { auditStore } from '../audit/audit-store.ts';
import type { PayloadService } from '../payloads/payload-service.ts';
import { payloadStore } from '../payloads/payload-store.ts';
import { readProtectionPolicy } from '../payloads/protection-policy.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { Escalation } from '../platform/generated/client.ts';
import type { Held } from './escalation.ts';
import { escalationStore } from './escalation-store.ts';

/** The window of earlier events that are shown, and their highest number; the newest are shown. */
const BEFORE_MS = 15 * 60_000;
const MAX_EVENTS = 20;

/**
 * Why the kept arguments are not shown as they were:
 * - `not_kept`: none are kept, or they are not stored yet
 * - `encrypted`: only the decrypt route shows them
 * - `unreadable`: they cannot be read
 * - `redacted`: parts were removed
 * - `role`: the caller's role is read-only
 */
export const Withheld = z.enum(['not_kept', 'encrypted', 'unreadable', 'redacted', 'role']);
export type Withheld = z.infer<typeof Withheld>;

const RecentEvent = z.object({
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

type RecentEvent = z.infer<typeof RecentEvent>;

/** Fields of both details. */
export const heldDetailFields = {
  agent: z.object({ id: z.string(), name: z.string(), risk_tier: z.string() }).nullable(),
  /** The audit event that used the approval or release, once its record has arrived. */
  used_by_event: z.string().nullable(),
  /** What the agent did in the 15 minutes before, newest first, 20 events at most. */
  recent_events: z.array(RecentEvent),
};

export interface HeldDetailsDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  payloads: Pick<PayloadService, 'show'>;
}

interface HeldKind<Kept> {
  held: Held;
  notFound: ErrorCode;
  /** @throws where the stored part has another form */
  parse(stored: unknown): Kept;
}

export function createHeldDetails<Kept>(
  { db, payloads }: HeldDetailsDeps,
  { held, notFound, parse }: HeldKind<Kept>,
) {
  const part: PayloadPart = held === 'call' ? 'input' : 'result';

  /** Each reading of a stored payload is audited. */
  async function readKept(scope: TenantScope, event: HeldEvent): Promise<Kept | undefined> {
    try {
      return parse((await payloads.show(scope, event))[part]);
    } catch {
      return undefined;
    }
  }

  return {
    /**
     * @returns the row, the fields of both details, what was kept (undefined when it is withheld
     *   entirely), and why not all of it is shown
     * @throws AppError `notFound`
     */
    get: async (scope: TenantScope, id: string) => {
      const { withheld, ...found } = await db.inTenant(scope, async (tx) => {
        const row = await escalationStore(tx, held).find(id);
        if (row === undefined) throw new AppError(notFound);
        // A role that cannot decide sees no payload.
        const isReader = scope.actor.role === 'auditor';
        return {
          row,
          fields: {
            agent: await findAgent(tx, row.agentId),
            used_by_event: await findUse(tx, row),
            recent_events: await listRecentEvents(tx, row),
          },
          withheld: isReader ? ('role' as const) : await findWithheld(tx, row, part),
        };
      });
      const isShown = withheld === null || withheld === 'redacted';
      const kept = isShown ? await readKept(scope, found.row) : undefined;
      const isUnreadable = isShown && kept === undefined;
      return { ...found, kept, withheld: isUnreadable ? ('unreadable' as const) : withheld };
    },
  };
}

/** What the agent did in the window before the escalation, newest first. */
async function listRecentEvents(
  tx: TenantTransaction,
  { agentId, openedAt: to }: Pick<Escalation, 'agentId' | 'openedAt'>,
): Promise<RecentEvent[]> {
  const from = new Date(to.getTime() - BEFORE_MS);
  // The range is half-open, so that the held call itself is excluded.
  const page = { limit: MAX_EVENTS, offset: 0 };
  const events = await auditStore(tx).listEvents({ agentId, from, to }, page);
  return events.map(({ row, ...about }) => RecentEvent.parse(toAuditEvent(row, about)));
}

/** How many of the agent's events are searched for the one that used its approval. */
const MAX_LOOKED = 200;
/** The largest clock difference between the planes that is tolerated. */
const APART_MS = 60_000;

async function findUse(
  tx: TenantTransaction,
  { agentId, grantId, resolvedAt, grantExpiresAt }: Escalation,
): Promise<string | null> {
  if (grantId === null || resolvedAt === null || grantExpiresAt === null) return null;
  const from = new Date(resolvedAt.getTime() - APART_MS);
  const to = new Date(grantExpiresAt.getTime() + APART_MS);
  const filter = { agentId, policyResult: 'allow', from, to } as const;
  const events = await auditStore(tx).listEvents(filter, { limit: MAX_LOOKED, offset: 0 });
  const used = events.find(({ row }) => toAuditEvent(row).grant_id === grantId);
  return used?.row.id ?? null;
}

async function findAgent({ db, scope: { tenantId } }: TenantTransaction, id: string) {
  const agent = await db.agent.findUnique({
    where: { tenantId_id: { tenantId, id } },
    select: { id: true, name: true, riskTier: true },
  });
  return agent && { id: agent.id, name: agent.name, risk_tier: agent.riskTier };
}

/** The held event, as the data plane that asks has it. */
type HeldEvent = Pick<Escalation, 'eventId' | 'deploymentId'>;

/** Why part of a call is not shown as it was; null when it is. */
async function findWithheld(
  tx: TenantTransaction,
  { eventId, deploymentId }: HeldEvent,
  of: PayloadPart,
): Promise<Withheld | null> {
  const stored = await payloadStore(tx).find(eventId, deploymentId);
  const parts = stored.filter(({ part }) => part === of);
  if (parts.length === 0) return 'not_kept';
  if (parts.some(({ isEncrypted }) => isEncrypted)) return 'encrypted';
  const policy = await readProtectionPolicy(tx);
  const takesOut =
    policy.payloadMode === 'redacted' || policy.redactDlpMatches || policy.redactFields.length > 0;
  return takesOut || policy.hashIdentifiers ? 'redacted' : null;
}
