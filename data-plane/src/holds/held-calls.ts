/**
 * The calls of this data plane, and their results, that wait for a person. Only the control plane's
 * row decides how one ends; a fact brings that here. Nothing runs from here: an approval is a
 * grant, which a client that waits, or repeats the call, takes once. Its use commits with the
 * record of the decision that follows from it, as the removal of the row. Proven by
 * held-calls.test.ts.
 */
import type { EscalationFact, ResultRelease } from '@governance/shared/facts';
import { GRANT_MS } from '@governance/shared/hold-settings';
import type { HoldChange } from '../contracts.ts';
import type { DurableLedger } from '../ledger/ledger.ts';
import type { LocalReplica } from '../replica/replica.ts';
import type { HeldPlaces } from './held-places.ts';
import type { HeldResults } from './held-results.ts';
import { type Hold, isOfResult, readHold, removeHold, storeHold } from './hold.ts';

/** Calls of an agent, and of a tenant, that may wait for a person at a time. */
export const MAX_HELD = { ofAgent: 25, ofTenant: 1_000 };
/** Requests that may wait for held calls, likewise; further ones are answered `pending` at once. */
export const MAX_WAITING = { ofAgent: 32, ofTenant: 512 };
/** How long after its time-out the control plane's resolution is still awaited. */
export const GRACE_MS = 5_000;
/** How long an end is remembered for the client that asks again. */
const KEPT_MS = GRANT_MS;
const SWEEP_MS = 1_000;

/** An approval, valid for one call. */
export interface Approval {
  readonly id: string;
  readonly escalationId: string;
  readonly policyIds: ReadonlySet<string>;
  /** For a result: how its agent may see it. Null for a call. */
  readonly releaseAs: ResultRelease | null;
  /** What has to commit with the decision that uses it. */
  readonly changes: readonly HoldChange[];
  /** The approval was used. */
  used(): void;
  /** The approval was not used: the next request may have it. No effect once it was used. */
  release(): void;
}

export type HoldEnd =
  | { readonly kind: 'approved'; readonly approval: Approval }
  /** Another request for the same call has the approval, or the approval went unused. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'denied' }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'pending' };

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
   * @param signal.onLeave is given how to end the waiting early, as `pending`
   */
  wait(ms: number, onLeave: (leave: () => void) => void): Promise<HoldEnd>;
}

type AskedCall = Pick<Hold, 'tenantId' | 'binding' | 'policyIds'>;
type NewHold = Omit<Hold, 'timeoutAt'> & { timeoutMs: number };

interface Kept {
  readonly hold: Hold;
  /** The waiting requests, the newest last. */
  readonly waiting: Set<(end: HoldEnd) => void>;
  resolution: EscalationFact | null;
  /** When the resolution arrived here. */
  resolvedAt: number;
  /** A request has its approval and may use it. */
  isClaimed: boolean;
}

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
  const { ledger, replica, places, results, now } = deps;
  const tenants = new Map<string, Map<string, Kept>>();
  let timer: NodeJS.Timeout | null = null;

  function keep(hold: Hold): Kept {
    const kept: Kept = {
      hold,
      waiting: new Set(),
      resolution: null,
      resolvedAt: 0,
      isClaimed: false,
    };
    const ofTenant = tenants.get(hold.tenantId) ?? new Map<string, Kept>();
    tenants.set(hold.tenantId, ofTenant.set(hold.id, kept));
    places?.note(hold, hold.timeoutAt + GRACE_MS + KEPT_MS);
    timer ??= setInterval(sweep, SWEEP_MS).unref();
    return kept;
  }

  function forget({ hold, waiting }: Kept): void {
    const ofTenant = tenants.get(hold.tenantId);
    ofTenant?.delete(hold.id);
    places?.forget(hold);
    if (isOfResult(hold)) results?.remove(hold);
    if (ofTenant?.size === 0) tenants.delete(hold.tenantId);
    for (const end of [...waiting]) end({ kind: 'taken' });
  }

  /** On disk too. A row that cannot be removed is handled again at the next start. */
  function remove(kept: Kept): void {
    forget(kept);
    ledger.writeHolds([removeHold(kept.hold)]).catch(() => undefined);
  }

  /** Its state now, regardless of who has its approval. */
  function stateOf({ hold, resolution, resolvedAt }: Kept): HoldEnd['kind'] {
    if (resolution === null) return now() < hold.timeoutAt + GRACE_MS ? 'pending' : 'timed_out';
    const { grant } = resolution;
    if (resolution.resolution !== 'approved') return resolution.resolution;
    // By this clock too: the control plane's may be ahead.
    const isGood =
      grant !== null && now() < Math.min(Date.parse(grant.expires_at), resolvedAt + GRANT_MS);
    return isGood ? 'approved' : 'taken';
  }

  function endOf(kept: Kept): HoldEnd {
    const kind = stateOf(kept);
    if (kind !== 'approved') return { kind };
    const grant = kept.resolution?.grant;
    if (!grant || kept.isClaimed) return { kind: 'taken' };
    const releaseAs = isOfResult(kept.hold) ? (kept.resolution?.release ?? null) : null;
    return { kind, approval: claim(kept, grant.id, releaseAs) };
  }

  function claim(kept: Kept, id: string, releaseAs: ResultRelease | null): Approval {
    const { hold } = kept;
    kept.isClaimed = true;
    let isOver = false;
    return {
      id,
      escalationId: hold.id,
      policyIds: hold.policyIds,
      releaseAs,
      changes: [removeHold(hold)],
      used() {
        isOver = true;
        forget(kept);
      },
      release() {
        if (isOver) return;
        isOver = true;
        kept.isClaimed = false;
      },
    };
  }

  /**
   * Wakes the waiting requests: the newest client is the likeliest still there, so it gets an
   * approval.
   */
  function settle(kept: Kept): void {
    if (stateOf(kept) === 'pending') return;
    for (const end of [...kept.waiting].reverse()) end(endOf(kept));
  }

  function resolve(tenantId: string, kept: Kept): void {
    const fact = replica.findEscalation(tenantId, kept.hold.id);
    if (fact === undefined || kept.resolution !== null) return;
    kept.resolution = fact;
    kept.resolvedAt = now();
    // No agent will see it any more.
    if (fact.resolution === 'denied' && isOfResult(kept.hold)) results?.remove(kept.hold);
    settle(kept);
  }

  const unsubscribe = replica.onEscalation((tenantId, escalationId) => {
    const ofTenant = tenants.get(tenantId);
    if (ofTenant === undefined) return;
    const found = escalationId === null ? [...ofTenant.values()] : [ofTenant.get(escalationId)];
    for (const kept of found) if (kept) resolve(tenantId, kept);
  });

  function sweep(): void {
    for (const ofTenant of [...tenants.values()]) {
      for (const kept of [...ofTenant.values()]) {
        if (kept.waiting.size > 0) settle(kept);
        const { hold, resolution, resolvedAt, isClaimed } = kept;
        const over = resolution === null ? hold.timeoutAt + GRACE_MS : resolvedAt;
        if (!isClaimed && now() >= over + KEPT_MS) remove(kept);
      }
    }
    if (tenants.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  function find({ tenantId, binding, policyIds }: AskedCall): Kept | undefined {
    for (const kept of tenants.get(tenantId)?.values() ?? []) {
      if (kept.hold.binding !== binding) continue;
      // An approval is used once; reasons that nobody was asked about need a new question.
      const state = stateOf(kept);
      const isSeen = [...policyIds].every((id) => kept.hold.policyIds.has(id));
      if (isSeen && (state !== 'taken' || kept.isClaimed)) return kept;
    }
    return undefined;
  }

  function count(tenantId: string, agentId?: string) {
    const counts = { held: 0, waiting: 0, kept: 0 };
    for (const kept of tenants.get(tenantId)?.values() ?? []) {
      if (agentId !== undefined && kept.hold.agentId !== agentId) continue;
      counts.kept++;
      counts.waiting += kept.waiting.size;
      if (stateOf(kept) === 'pending') counts.held++;
    }
    return counts;
  }

  function hasRoom({ tenantId, agentId }: NewHold): boolean {
    const ofAgent = count(tenantId, agentId);
    // Remembered ends count too, up to twice as many.
    if (ofAgent.held >= MAX_HELD.ofAgent || ofAgent.kept >= 3 * MAX_HELD.ofAgent) return false;
    const ofTenant = count(tenantId);
    return ofTenant.held < MAX_HELD.ofTenant && ofTenant.kept < 3 * MAX_HELD.ofTenant;
  }

  function mayWait({ tenantId, agentId }: Hold): boolean {
    return (
      count(tenantId, agentId).waiting < MAX_WAITING.ofAgent &&
      count(tenantId).waiting < MAX_WAITING.ofTenant
    );
  }

  function wait(kept: Kept, ms: number, onLeave: (leave: () => void) => void): Promise<HoldEnd> {
    const reached = endOf(kept);
    if (reached.kind !== 'pending') {
      told(kept, reached);
      return Promise.resolve(reached);
    }
    if (!mayWait(kept.hold)) return Promise.resolve(reached);
    return new Promise((resolve) => {
      const end = (reached: HoldEnd) => {
        if (!kept.waiting.delete(end)) return;
        clearTimeout(time);
        told(kept, reached);
        resolve(reached);
      };
      const leave = () => end({ kind: 'pending' });
      const time = setTimeout(leave, ms);
      kept.waiting.add(end);
      onLeave(leave);
    });
  }

  function placeAt(kept: Kept, isNew: boolean): HeldCall {
    return {
      hold: kept.hold,
      isNew,
      changes: isNew ? [storeHold(kept.hold)] : [],
      isPending: () => stateOf(kept) === 'pending',
      drop: () => {
        if (isNew) remove(kept);
      },
      wait: (ms, onLeave) => wait(kept, ms, onLeave),
    };
  }

  /** A client that has learned of the time-out may ask again. */
  function told(kept: Kept, { kind }: HoldEnd): void {
    if (kind === 'timed_out' && kept.waiting.size === 0 && kept.resolution) remove(kept);
  }

  return {
    /** Restores what was held when the process ended. */
    load(tenantId: string): void {
      for (const value of ledger.readHolds(tenantId)) {
        const hold = readHold(tenantId, value);
        if (hold === undefined || tenants.get(tenantId)?.has(hold.id)) continue;
        resolve(tenantId, keep(hold));
      }
      // What a crash left between two files.
      results?.keepOnly(tenantId, new Set(tenants.get(tenantId)?.keys()));
    },

    /** Whether a result of the agent is held. Cheap: asked at every call. */
    holdsResultOf(tenantId: string, agentId: string): boolean {
      for (const { hold } of tenants.get(tenantId)?.values() ?? []) {
        if (hold.agentId === agentId && isOfResult(hold)) return true;
      }
      return false;
    },

    /** A place at the held call of this binding, if it is held here for these reasons. */
    findCall(asked: AskedCall): HeldCall | undefined {
      const kept = find(asked);
      return kept && placeAt(kept, false);
    },

    /** A place at the held result of this binding, if one exists. */
    findResult(tenantId: string, binding: string): HeldCall | undefined {
      const kept = find({ tenantId, binding, policyIds: new Set() });
      return kept && placeAt(kept, false);
    },

    /**
     * A place at the held call of this binding, which is made where there is none that a person was
     * asked about for the same reasons.
     *
     * @returns undefined where the agent or the tenant has as many as it may have
     */
    join(asked: NewHold): HeldCall | undefined {
      const known = find(asked);
      if (known === undefined && !hasRoom(asked)) return undefined;
      const { timeoutMs, ...rest } = asked;
      const kept = known ?? keep({ ...rest, timeoutAt: now() + timeoutMs });
      return placeAt(kept, known === undefined);
    },

    /** The number of a tenant's calls that wait for a person, for the heartbeat. */
    countPending: (tenantId: string): number => count(tenantId).held,

    /** The number of a tenant's requests that wait for one. */
    countWaiting: (tenantId: string): number => count(tenantId).waiting,

    /** Ends all waits: the requests are answered `pending`. */
    endWaits(): void {
      for (const ofTenant of tenants.values()) {
        for (const { waiting } of ofTenant.values()) {
          for (const end of [...waiting]) end({ kind: 'pending' });
        }
      }
    },

    stop(): void {
      unsubscribe();
      this.endWaits();
      if (timer !== null) clearInterval(timer);
      timer = null;
      tenants.clear();
    },
  };
}
