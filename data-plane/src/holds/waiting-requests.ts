/**
 * The requests that wait for the end of a hold, and how each is answered. Only one of them at a time
 * has the approval; the others are answered `taken`. Proven by held-calls.test.ts.
 */
import { isOfResult, removeHold } from './hold.ts';
import type { HoldTable } from './hold-table.ts';
import {
  type Approval,
  type HoldClock,
  type HoldEnd,
  type KeptHold,
  stateOf,
} from './kept-hold.ts';

/** Requests of an agent, and of a tenant, that may wait; further ones are answered `pending`. */
export const MAX_WAITING = { ofAgent: 32, ofTenant: 512 };

export function createWaitingRequests({
  table,
  clock,
}: {
  table: Pick<HoldTable, 'all' | 'count' | 'forget' | 'remove'>;
  clock: HoldClock;
}) {
  /** How the hold has ended for one request. If it was approved, the request gets the approval. */
  function takeEnd(kept: KeptHold): HoldEnd {
    const kind = stateOf(kept, clock);
    if (kind !== 'approved') return { kind };
    const grant = kept.resolution?.grant;
    if (!grant || kept.isClaimed) return { kind: 'taken' };
    return { kind, approval: claim(kept, grant.id) };
  }

  function claim(kept: KeptHold, id: string): Approval {
    const { hold, resolution } = kept;
    kept.isClaimed = true;
    let isOver = false;
    return {
      id,
      escalationId: hold.id,
      asked: hold.asked,
      releaseAs: isOfResult(hold) ? (resolution?.release ?? null) : null,
      changes: [removeHold(hold)],
      used() {
        isOver = true;
        table.forget(kept);
      },
      release() {
        if (isOver) return;
        isOver = true;
        kept.isClaimed = false;
      },
    };
  }

  function mayWait({ hold: { tenantId, agentId } }: KeptHold): boolean {
    return (
      table.count(tenantId, agentId).waiting < MAX_WAITING.ofAgent &&
      table.count(tenantId).waiting < MAX_WAITING.ofTenant
    );
  }

  /** Removes a timed-out hold when no request waits any more: a client may then ask again. */
  function forgetTimedOut(kept: KeptHold, { kind }: HoldEnd): void {
    if (kind === 'timed_out' && kept.waiting.size === 0 && kept.resolution) table.remove(kept);
  }

  return {
    wait(kept: KeptHold, ms: number, onLeave: (leave: () => void) => void): Promise<HoldEnd> {
      const reached = takeEnd(kept);
      if (reached.kind !== 'pending') {
        forgetTimedOut(kept, reached);
        return Promise.resolve(reached);
      }
      if (!mayWait(kept)) return Promise.resolve(reached);
      return new Promise((resolve) => {
        const end = (reached: HoldEnd) => {
          if (!kept.waiting.delete(end)) return;
          clearTimeout(time);
          forgetTimedOut(kept, reached);
          resolve(reached);
        };
        const leave = () => end({ kind: 'pending' });
        const time = setTimeout(leave, ms);
        kept.waiting.add(end);
        onLeave(leave);
      });
    },

    /**
     * Answers the requests that wait for a hold that has ended. The newest comes first, and gets
     * the approval: its client is the most likely to be still connected.
     */
    settle(kept: KeptHold): void {
      if (stateOf(kept, clock) === 'pending') return;
      for (const end of [...kept.waiting].reverse()) end(takeEnd(kept));
    },

    /** Ends all waits: the requests are answered `pending`. */
    endAll(): void {
      for (const { waiting } of table.all()) {
        for (const end of [...waiting]) end({ kind: 'pending' });
      }
    },
  };
}
