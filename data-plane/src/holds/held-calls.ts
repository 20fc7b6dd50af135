/**
 * The calls, and results of calls, that this data plane holds for a person. Only the control plane
 * decides how a hold ends; an escalation fact brings its decision here. This module executes no
 * call: an approval is a grant, which one request that waits, or repeats the call, takes once.
 * Using it removes the hold's row, in the commit that records the decision. A newer question about
 * the call replaces it. Proven by held-calls.test.ts.
 */
import type { HoldChange } from '../contracts.ts';
import type { DurableLedger } from '../ledger/ledger.ts';
import type { LocalReplica } from '../replica/replica.ts';
import type { HeldPlaces } from './held-places.ts';
import type { HeldResults } from './held-results.ts';
import { type Hold, isOfResult, readHold, removeHold, storeHold } from './hold.ts';
import { type AskedCall, createHoldTable } from './hold-table.ts';
import { type HoldClock, type HoldEnd, type KeptHold, keptUntil, stateOf } from './kept-hold.ts';
import { createWaitingRequests } from './waiting-requests.ts';

const SWEEP_MS = 1_000;
/** A result is its agent's, whichever credential its call was made with. */
const OF_RESULT: OfCall = { question: { reasons: [], revision: 0 }, isCurrent: () => true };

/** A held call, or held result, as one request sees it. */
export interface HeldCall {
  readonly hold: Hold;
  /** Whether this request created it. */
  readonly isNew: boolean;
  /** To be committed with the record that opens a new hold; empty where the hold was open. */
  readonly changes: readonly HoldChange[];
  /** Whether nobody has decided yet. */
  isPending(): boolean;
  /** Drops a new hold, whose opening record could not be written. */
  drop(): void;
  /**
   * Waits until the hold ends, for at most `ms`.
   *
   * @param onLeave is given a function that ends the wait early, as `pending`
   */
  wait(ms: number, onLeave: (leave: () => void) => void): Promise<HoldEnd>;
}

/** Without a question: a result. */
type NewHold = Omit<Hold, 'timeoutAt'> & Partial<OfCall> & { timeoutMs: number };
type OfCall = Pick<AskedCall, 'question' | 'isCurrent'>;

export type HeldCalls = ReturnType<typeof createHeldCalls>;

export function createHeldCalls(deps: {
  ledger: Pick<DurableLedger, 'readHolds' | 'writeHolds'>;
  replica: Pick<LocalReplica, 'findEscalation' | 'onEscalation'>;
  /** Held results, which end with their hold. */
  results?: Pick<HeldResults, 'remove' | 'keepOnly'> | undefined;
  /** With several workers: informs the others where a call is held. */
  places?: Pick<HeldPlaces, 'note' | 'forget'> | undefined;
  /** Unix milliseconds. */
  now(): number;
  /** A monotonic clock, milliseconds. */
  elapsed?: () => number;
}) {
  const { ledger, replica, results, now } = deps;
  const elapsed = deps.elapsed ?? (() => performance.now());
  const clock: HoldClock = { now, elapsed };
  const table = createHoldTable({ ...deps, clock });
  const waits = createWaitingRequests({ table, clock });
  let timer: NodeJS.Timeout | null = null;

  function keep(hold: Hold): KeptHold {
    timer ??= setInterval(sweep, SWEEP_MS).unref();
    return table.keep(hold);
  }

  function sweep(): void {
    for (const kept of table.all()) {
      if (kept.waiting.size > 0) waits.settle(kept);
      if (!kept.isClaimed && elapsed() >= keptUntil(kept)) table.remove(kept);
    }
    if (table.isEmpty()) stopSweeping();
  }

  function stopSweeping(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  function resolve(tenantId: string, kept: KeptHold): void {
    const fact = replica.findEscalation(tenantId, kept.hold.id);
    if (fact === undefined || kept.resolution !== null) return;
    kept.resolution = fact;
    kept.resolvedAt = elapsed();
    table.notePlace(kept);
    // A denied result is never handed over.
    if (fact.resolution === 'denied' && isOfResult(kept.hold)) results?.remove(kept.hold);
    waits.settle(kept);
  }

  const unsubscribe = replica.onEscalation((tenantId, escalationId) => {
    const ofTenant = table.ofTenant(tenantId);
    if (ofTenant === undefined) return;
    const found = escalationId === null ? [...ofTenant.values()] : [ofTenant.get(escalationId)];
    for (const kept of found) if (kept) resolve(tenantId, kept);
  });

  /** A request's place at a hold that was open already. */
  function placeAt(kept: KeptHold): HeldCall {
    return {
      hold: kept.hold,
      isNew: false,
      changes: [],
      isPending: () => stateOf(kept, clock) === 'pending',
      drop: () => undefined,
      wait: (ms, onLeave) => waits.wait(kept, ms, onLeave),
    };
  }

  /** The place of the request that opens a hold, which takes the place of others. */
  function firstPlaceAt(kept: KeptHold, superseded: readonly KeptHold[]): HeldCall {
    return {
      ...placeAt(kept),
      isNew: true,
      changes: [storeHold(kept.hold), ...superseded.map(({ hold }) => removeHold(hold))],
      drop: () => table.remove(kept),
    };
  }

  function joined(kept: KeptHold): HeldCall {
    for (const earlier of table.supersededBy(kept)) table.remove(earlier);
    return placeAt(kept);
  }

  return {
    /** Restores what was held when the process ended. */
    load(tenantId: string): void {
      for (const value of ledger.readHolds(tenantId)) {
        const hold = readHold(tenantId, value);
        if (hold === undefined || table.ofTenant(tenantId)?.has(hold.id)) continue;
        resolve(tenantId, keep(hold));
      }
      // A crash between the writes of the two files may have left a result without its hold.
      results?.keepOnly(tenantId, new Set(table.ofTenant(tenantId)?.keys()));
    },

    /** Whether a result of the agent is held. Cheap: asked at every call. */
    holdsResultOf(tenantId: string, agentId: string): boolean {
      for (const { hold } of table.ofTenant(tenantId)?.values() ?? []) {
        if (hold.agentId === agentId && isOfResult(hold)) return true;
      }
      return false;
    },

    /** The held call of this binding, if a person was asked about all these reasons. */
    findCall(asked: AskedCall): HeldCall | undefined {
      const kept = table.find(asked);
      return kept && joined(kept);
    },

    /** The held result of this binding, if there is one. */
    findResult(tenantId: string, binding: string): HeldCall | undefined {
      const kept = table.find({ tenantId, binding, ...OF_RESULT });
      return kept && placeAt(kept);
    },

    /**
     * The held call of this binding. A new hold is made where there is none, or where a person was
     * not asked about all these reasons.
     *
     * @returns undefined where the agent or the tenant is at its limit (MAX_HELD)
     */
    join(asked: NewHold): HeldCall | undefined {
      const { question, isCurrent, timeoutMs, ...rest } = { ...OF_RESULT, ...asked };
      const known = table.find({ ...rest, question, isCurrent });
      if (known === undefined && !table.hasRoom(asked)) return undefined;
      if (known !== undefined) return joined(known);
      const kept = keep({ ...rest, timeoutAt: now() + timeoutMs });
      const superseded = table.supersededBy(kept);
      // Forgotten before the commit: where that fails, a person is asked again.
      for (const earlier of superseded) table.forget(earlier);
      return firstPlaceAt(kept, superseded);
    },

    /** The number of a tenant's calls that wait for a person, for the heartbeat. */
    countPending: (tenantId: string): number => table.count(tenantId).held,

    /** The number of a tenant's requests that wait for the end of a hold. */
    countWaiting: (tenantId: string): number => table.count(tenantId).waiting,

    /** Ends all waits: the requests are answered `pending`. */
    endWaits: waits.endAll,

    stop(): void {
      unsubscribe();
      waits.endAll();
      stopSweeping();
      table.clear();
    },
  };
}
