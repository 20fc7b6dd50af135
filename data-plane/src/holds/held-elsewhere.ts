/**
 * Calls held at other data planes of the tenant, and at other workers of this one. An approval is
 * used only where the call is held: a client that makes the same call here waits, and is told the
 * hold's state. Proven by held-elsewhere.test.ts.
 */
import type { HeldCallFact } from '@governance/shared/channel/facts';
import { LRUCache } from 'lru-cache';
import type { Replica } from '../contracts.ts';
import { NOTHING_ASKED } from './asked-reasons.ts';
import type { HeldCall } from './held-calls.ts';
import type { HeldPlaces } from './held-places.ts';
import { GRACE_MS, type HoldEnd } from './kept-hold.ts';

/**
 * Requests that may wait here for calls held elsewhere; further ones are answered with the state at
 * once.
 */
const MAX_WAITING = { ofAgent: 32, ofAll: 512 };
/** Time-outs that were answered to a client: the same call then opens a new escalation. */
const MAX_ANSWERED = 10_000;

interface AskedElsewhere {
  readonly tenantId: string;
  readonly agentId: string;
  /** The shared binding, which all data planes of the tenant compute alike. */
  readonly binding: string;
  readonly held: HeldCallFact['held'];
}

export type HeldElsewhere = ReturnType<typeof createHeldElsewhere>;

export function createHeldElsewhere(deps: {
  replica: Pick<Replica, 'hasHeldCalls' | 'findHeldElsewhere' | 'onHeldCall'>;
  /** With several workers: the agent's next request goes to the one with the approval. */
  places?: Pick<HeldPlaces, 'giveTurn'> | undefined;
  /** Unix milliseconds. */
  now(): number;
}) {
  const { replica, now } = deps;
  const waiting = new Map<() => void, { agentId: string; leave(): void }>();
  const answered = new LRUCache<string, true>({ max: MAX_ANSWERED });

  replica.onHeldCall(() => {
    for (const look of [...waiting.keys()]) look();
  });

  /** @returns undefined where the hold has ended and a person has to be asked again */
  function endOf(fact: HeldCallFact): Exclude<HoldEnd['kind'], 'approved'> | undefined {
    const { status, timeout_at, told_until } = fact;
    if (status === 'pending') {
      return now() < Date.parse(timeout_at) + GRACE_MS ? 'pending' : 'timed_out';
    }
    if (told_until === null || now() >= Date.parse(told_until)) return undefined;
    return status === 'approved' ? 'elsewhere' : status;
  }

  function findFact(asked: AskedElsewhere): HeldCallFact | undefined {
    const fact = replica.findHeldElsewhere(asked.tenantId, asked.binding);
    if (fact?.agent_id !== asked.agentId || fact.held !== asked.held) return undefined;
    const end = endOf(fact);
    const isOver = end === undefined || (end === 'timed_out' && answered.has(fact.escalation_id));
    return isOver ? undefined : fact;
  }

  function mayWait(agentId: string): boolean {
    if (waiting.size >= MAX_WAITING.ofAll) return false;
    return (
      [...waiting.values()].filter((one) => one.agentId === agentId).length < MAX_WAITING.ofAgent
    );
  }

  function wait(
    { tenantId, agentId, binding }: AskedElsewhere,
    { escalation_id, timeout_at }: HeldCallFact,
    ms: number,
    onLeave: (leave: () => void) => void,
  ): Promise<HoldEnd> {
    const endNow = (): HoldEnd => {
      const fact = replica.findHeldElsewhere(tenantId, binding);
      // The binding now belongs to another escalation, or to none: this one has ended.
      const kind = fact?.escalation_id === escalation_id ? endOf(fact) : undefined;
      if ((kind ?? 'timed_out') === 'timed_out') answered.set(escalation_id, true);
      if (kind === 'elsewhere') deps.places?.giveTurn({ id: escalation_id, tenantId, agentId });
      return { kind: kind ?? 'timed_out' };
    };
    const reached = endNow();
    if (reached.kind !== 'pending' || !mayWait(agentId)) return Promise.resolve(reached);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(time);
        clearTimeout(late);
        if (waiting.delete(look)) resolve(endNow());
      };
      const look = () => {
        if (endNow().kind !== 'pending') end();
      };
      const time = setTimeout(end, ms);
      const late = setTimeout(look, Math.min(ms, Date.parse(timeout_at) + GRACE_MS - now()) + 1);
      waiting.set(look, { agentId, leave: end });
      onLeave(end);
    });
  }

  return {
    /**
     * Whether any data plane holds, or recently held, a call of the tenant. Asked at every call.
     */
    hasAny: (tenantId: string): boolean => replica.hasHeldCalls(tenantId),

    /** The same call, as held at another data plane. */
    find(asked: AskedElsewhere): HeldCall | undefined {
      const fact = findFact(asked);
      if (fact === undefined) return undefined;
      const { tenantId, agentId, binding } = asked;
      const timeoutAt = Date.parse(fact.timeout_at);
      return {
        hold: {
          id: fact.escalation_id,
          tenantId,
          agentId,
          binding,
          asked: NOTHING_ASKED,
          proof: null,
          timeoutAt,
        },
        isNew: false,
        changes: [],
        isPending: () => endOf(fact) === 'pending',
        drop: () => undefined,
        wait: (ms, onLeave) => wait(asked, fact, ms, onLeave),
      };
    },

    /** Ends all waits: the requests are answered with the hold's present state. */
    endWaits(): void {
      for (const { leave } of [...waiting.values()]) leave();
    },
  };
}
