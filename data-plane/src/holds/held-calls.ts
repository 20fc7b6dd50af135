/**
 * The calls of this data plane, and their results, that wait for a person. Only the control plane's
 * row decides how one ends; a fact brings that here. Nothing runs from here: an approval is a
 * grant, which a client that waits, or repeats the call, takes once. Its use commits with the
 * record of the decision that follows from it, as the removal of the row. Proven by
 * held-calls.test.ts.
 */
import type { HoldChange } from '../contracts.ts';
import type { DurableLedger } from '../ledger/ledger.ts';
import type { LocalReplica } from '../replica/replica.ts';
import type { HeldPlaces } from './held-places.ts';
import type { HeldResults } from './held-results.ts';
import { type Hold, isOfResult, readHold, storeHold } from './hold.ts';
import { type AskedCall, createHoldTable } from './hold-table.ts';
import { type HoldEnd, type KeptHold, keptUntil, stateOf } from './kept-hold.ts';
import { createWaitingRequests } from './waiting-requests.ts';

const SWEEP_MS = 1_000;

/** A request's place at a held call. */
export interface HeldCall {
  readonly hold: Hold;
  /** Whether this request created it. */
  readonly isNew: boolean;
  /** For a new one: written with the record that opens it. */
  readonly changes: readonly HoldChange[];
  /** Whether nobody has decided yet. */
  isPending(): boolean;
  /** The record that opens it could not be written: the hold is dropped. */
  drop(): void;
  /**
   * Waits for its end.
   *
   * @param onLeave is given how to end the waiting early, as `pending`
   */
  wait(ms: number, onLeave: (leave: () => void) => void): Promise<HoldEnd>;
}

type NewHold = Omit<Hold, 'timeoutAt'> & { timeoutMs: number };

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
}) {
  const { ledger, replica, results, now } = deps;
  const table = createHoldTable(deps);
  const waits = createWaitingRequests({ table, now });
  let timer: NodeJS.Timeout | null = null;

  function keep(hold: Hold): KeptHold {
    timer ??= setInterval(sweep, SWEEP_MS).unref();
    return table.keep(hold);
  }

  function sweep(): void {
    for (const kept of table.all()) {
      if (kept.waiting.size > 0) waits.settle(kept);
      if (!kept.isClaimed && now() >= keptUntil(kept)) table.remove(kept);
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
    kept.resolvedAt = now();
    // No agent will see it any more.
    if (fact.resolution === 'denied' && isOfResult(kept.hold)) results?.remove(kept.hold);
    waits.settle(kept);
  }

  const unsubscribe = replica.onEscalation((tenantId, escalationId) => {
    const ofTenant = table.ofTenant(tenantId);
    if (ofTenant === undefined) return;
    const found = escalationId === null ? [...ofTenant.values()] : [ofTenant.get(escalationId)];
    for (const kept of found) if (kept) resolve(tenantId, kept);
  });

  function placeAt(kept: KeptHold, isNew: boolean): HeldCall {
    return {
      hold: kept.hold,
      isNew,
      changes: isNew ? [storeHold(kept.hold)] : [],
      isPending: () => stateOf(kept, now()) === 'pending',
      drop: () => {
        if (isNew) table.remove(kept);
      },
      wait: (ms, onLeave) => waits.wait(kept, ms, onLeave),
    };
  }

  return {
    /** Restores what was held when the process ended. */
    load(tenantId: string): void {
      for (const value of ledger.readHolds(tenantId)) {
        const hold = readHold(tenantId, value);
        if (hold === undefined || table.ofTenant(tenantId)?.has(hold.id)) continue;
        resolve(tenantId, keep(hold));
      }
      // What a crash left between two files.
      results?.keepOnly(tenantId, new Set(table.ofTenant(tenantId)?.keys()));
    },

    /** Whether a result of the agent is held. Cheap: asked at every call. */
    holdsResultOf(tenantId: string, agentId: string): boolean {
      for (const { hold } of table.ofTenant(tenantId)?.values() ?? []) {
        if (hold.agentId === agentId && isOfResult(hold)) return true;
      }
      return false;
    },

    /** A place at the held call of this binding, if it is held here for these reasons. */
    findCall(asked: AskedCall): HeldCall | undefined {
      const kept = table.find(asked);
      return kept && placeAt(kept, false);
    },

    /** A place at the held result of this binding, if one exists. */
    findResult(tenantId: string, binding: string): HeldCall | undefined {
      const kept = table.find({ tenantId, binding, policyIds: new Set() });
      return kept && placeAt(kept, false);
    },

    /**
     * A place at the held call of this binding, which is made where there is none that a person was
     * asked about for the same reasons.
     *
     * @returns undefined where the agent or the tenant has as many as it may have
     */
    join(asked: NewHold): HeldCall | undefined {
      const known = table.find(asked);
      if (known === undefined && !table.hasRoom(asked)) return undefined;
      const { timeoutMs, ...rest } = asked;
      const kept = known ?? keep({ ...rest, timeoutAt: now() + timeoutMs });
      return placeAt(kept, known === undefined);
    },

    /** The number of a tenant's calls that wait for a person, for the heartbeat. */
    countPending: (tenantId: string): number => table.count(tenantId).held,

    /** The number of a tenant's requests that wait for one. */
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
