/**
 * What a person sees of a held result before deciding: the call, what was found and where, and the
 * text as far as data protection permits.
 */
import { AppError } from '@governance/shared/errors';
import { z } from 'zod';
import type { PayloadService } from '../payloads/payload-service.ts';
import type { TenantDatabase, TenantScope } from '../platform/tenant-scope.ts';
import {
  findAgent,
  findUse,
  findWithheld,
  listRecentEvents,
  RecentEvent,
  Withheld,
} from './escalation-details.ts';
import { escalationStore } from './escalation-store.ts';
import { InboundHoldView, toHoldView } from './inbound-hold.ts';

export const InboundHoldDetail = InboundHoldView.extend({
  agent: z.object({ id: z.string(), name: z.string(), risk_tier: z.string() }).nullable(),
  /** As the server gave it, unchecked; null when withheld entirely. */
  result: z.unknown().nullable(),
  result_withheld: Withheld.nullable(),
  /** The audit event that handed the result over, once its record has arrived. */
  used_by_event: z.string().nullable(),
  /** What the agent did in the 15 minutes before, newest first, 20 events at most. */
  recent_events: z.array(RecentEvent),
}).meta({ id: 'InboundHoldDetail' });
export type InboundHoldDetail = z.infer<typeof InboundHoldDetail>;

export type InboundHoldDetails = ReturnType<typeof createInboundHoldDetails>;

export function createInboundHoldDetails(deps: {
  db: Pick<TenantDatabase, 'inTenant'>;
  payloads: Pick<PayloadService, 'show'>;
}) {
  const { db, payloads } = deps;

  /** Each reading of a stored result is audited. */
  async function readResult(scope: TenantScope, eventId: string): Promise<unknown> {
    try {
      return (await payloads.show(scope, eventId)).result;
    } catch {
      return undefined;
    }
  }

  return {
    /** @throws AppError INBOUND_HOLD_NOT_FOUND */
    get: async (scope: TenantScope, id: string): Promise<InboundHoldDetail> => {
      const { withheld, ...found } = await db.inTenant(scope, async (tx) => {
        const row = await escalationStore(tx, 'result').find(id);
        if (row === undefined) throw new AppError('INBOUND_HOLD_NOT_FOUND');
        return {
          ...toHoldView(row),
          agent: await findAgent(tx, row.agentId),
          used_by_event: await findUse(tx, row),
          recent_events: await listRecentEvents(tx, row),
          // A role that cannot decide sees no payload.
          withheld:
            scope.actor.role === 'auditor' ? 'role' : await findWithheld(tx, row.eventId, 'result'),
        } as const;
      });
      const isShown = withheld === null || withheld === 'redacted';
      const shown = isShown ? await readResult(scope, found.event_id) : undefined;
      const why = isShown && shown === undefined ? 'unreadable' : withheld;
      return { ...found, result: shown ?? null, result_withheld: why };
    },
  };
}
