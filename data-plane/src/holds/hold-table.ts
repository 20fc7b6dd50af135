/**
 * The holds in memory, by tenant, and their limits. Forgetting a hold also removes its entry in the
 * workers' file and its held result, and ends the requests that wait for it.
 */
import type { DurableLedger } from '../ledger/ledger.ts';
import { type Question, wasAsked } from './asked-reasons.ts';
import type { HeldPlaces } from './held-places.ts';
import type { HeldResults } from './held-results.ts';
import { type Hold, isOfResult, removeHold } from './hold.ts';
import { type HoldClock, type KeptHold, keptUntil, stateOf } from './kept-hold.ts';

/** Calls of an agent, and of a tenant, that may wait for a person at a time. */
export const MAX_HELD = { ofAgent: 25, ofTenant: 1_000 };

export interface AskedCall extends Pick<Hold, 'tenantId' | 'binding'> {
  question: Question;
  /** Whether the credential that asked is still the agent's. */
  isCurrent(hold: Hold): boolean;
}

export type HoldTable = ReturnType<typeof createHoldTable>;

export function createHoldTable(deps: {
  ledger: Pick<DurableLedger, 'writeHolds'>;
  /** Held results, which end with their hold. */
  results?: Pick<HeldResults, 'remove'> | undefined;
  /** With several workers: informs the others where a call is held. */
  places?: Pick<HeldPlaces, 'note' | 'forget'> | undefined;
  clock: HoldClock;
}) {
  const { ledger, results, places, clock } = deps;
  const tenants = new Map<string, Map<string, KeptHold>>();

  function forget({ hold, waiting }: KeptHold): void {
    const ofTenant = tenants.get(hold.tenantId);
    ofTenant?.delete(hold.id);
    places?.forget(hold);
    if (isOfResult(hold)) results?.remove(hold);
    if (ofTenant?.size === 0) tenants.delete(hold.tenantId);
    for (const end of [...waiting]) end({ kind: 'taken' });
  }

  /** Informs the other workers of it, and whether its approval can be used here. */
  function notePlace(kept: KeptHold): void {
    const until = Math.ceil(clock.now() + keptUntil(kept) - clock.elapsed());
    places?.note(kept.hold, until, stateOf(kept, clock) === 'approved');
  }

  function count(tenantId: string, agentId?: string) {
    const counts = { held: 0, waiting: 0, kept: 0 };
    for (const kept of tenants.get(tenantId)?.values() ?? []) {
      if (agentId !== undefined && kept.hold.agentId !== agentId) continue;
      counts.kept++;
      counts.waiting += kept.waiting.size;
      if (stateOf(kept, clock) === 'pending') counts.held++;
    }
    return counts;
  }

  return {
    keep(hold: Hold): KeptHold {
      const waiting: KeptHold['waiting'] = new Set();
      const left = hold.timeoutAt - clock.now();
      // A clock that is ahead at a restart removes no result at once: its call would be made again.
      const endsAt = clock.elapsed() + (isOfResult(hold) ? Math.max(0, left) : left);
      const kept = { hold, endsAt, waiting, resolution: null, resolvedAt: 0, isClaimed: false };
      const ofTenant = tenants.get(hold.tenantId) ?? new Map<string, KeptHold>();
      tenants.set(hold.tenantId, ofTenant.set(hold.id, kept));
      notePlace(kept);
      return kept;
    },

    notePlace,

    forget,

    /** Forgets it and removes its row. A row that cannot be removed is loaded at the next start. */
    remove(kept: KeptHold): void {
      forget(kept);
      ledger.writeHolds([removeHold(kept.hold)]).catch(() => undefined);
    },

    /** The newest hold of this binding where a person was asked about all these reasons. */
    find({ tenantId, binding, question, isCurrent }: AskedCall): KeptHold | undefined {
      let newest: KeptHold | undefined;
      for (const kept of tenants.get(tenantId)?.values() ?? []) {
        if (kept.hold.binding !== binding || !isCurrent(kept.hold)) continue;
        // A new escalation is needed for reasons that nobody was asked about, and where an
        // approval expired unused.
        const state = stateOf(kept, clock);
        const isSeen = wasAsked(kept.hold.asked, question);
        if (isSeen && (state !== 'taken' || kept.isClaimed)) newest = kept;
      }
      return newest;
    },

    /** The approvals of earlier questions about the same call: the newer question replaces them. */
    supersededBy({ hold }: KeptHold): KeptHold[] {
      const earlier: KeptHold[] = [];
      for (const kept of tenants.get(hold.tenantId)?.values() ?? []) {
        if (kept.hold.id === hold.id) break;
        const isSame = kept.hold.binding === hold.binding;
        if (isSame && stateOf(kept, clock) === 'approved') earlier.push(kept);
      }
      return earlier;
    },

    /** By id; undefined where the tenant holds nothing. */
    ofTenant: (tenantId: string): ReadonlyMap<string, KeptHold> | undefined =>
      tenants.get(tenantId),

    /** All holds, as a copy: callers may remove some while they iterate. */
    all: (): KeptHold[] => [...tenants.values()].flatMap((ofTenant) => [...ofTenant.values()]),

    count,

    hasRoom({ tenantId, agentId }: Pick<Hold, 'tenantId' | 'agentId'>): boolean {
      const ofAgent = count(tenantId, agentId);
      // Ended holds are kept for a while; with them, three times as many are allowed.
      if (ofAgent.held >= MAX_HELD.ofAgent || ofAgent.kept >= 3 * MAX_HELD.ofAgent) return false;
      const ofTenant = count(tenantId);
      return ofTenant.held < MAX_HELD.ofTenant && ofTenant.kept < 3 * MAX_HELD.ofTenant;
    },

    isEmpty: (): boolean => tenants.size === 0,

    clear: (): void => tenants.clear(),
  };
}
