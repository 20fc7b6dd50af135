/**
 * Answers that wait for their clients, in total of a bounded length. Where it is exceeded, those of
 * the tenant that keeps most go first, and among these those of the agent that keeps most: nobody
 * loses an answer because of somebody who keeps more. Proven by kept-answers.test.ts.
 */
import type { Caller } from '../../enforcement/calls.ts';

/** The call that an answer belongs to. */
interface AnsweredCall {
  readonly caller: Pick<Caller, 'tenantId' | 'key'>;
}

/**
 * @param most characters of all answers
 * @param drop gives a call up, and removes it here
 */
export function createKeptAnswers<T extends AnsweredCall>(most: number, drop: (call: T) => void) {
  /** The lengths of answers, the oldest first. */
  const kept = new Map<T, number>();
  const byTenant = new Map<string, number>();
  const byAgent = new Map<string, number>();
  let total = 0;

  function count({ caller }: T, length: number): void {
    total += length;
    grow(byTenant, caller.tenantId, length);
    grow(byAgent, caller.key, length);
  }

  /** Whether the owners of one keep more than those of the other. */
  function isOfLarger({ caller }: T, { caller: other }: T): boolean {
    const ofTenant = lengthOf(byTenant, caller.tenantId) - lengthOf(byTenant, other.tenantId);
    if (ofTenant !== 0) return ofTenant > 0;
    // Two tenants that keep the same are told apart by their agents.
    return lengthOf(byAgent, caller.key) > lengthOf(byAgent, other.key);
  }

  function findNextToGo(): T | undefined {
    let found: T | undefined;
    for (const call of kept.keys()) {
      if (found === undefined || isOfLarger(call, found)) found = call;
    }
    return found;
  }

  return {
    add(call: T, length: number): void {
      kept.set(call, length);
      count(call, length);
      while (total > most) {
        const next = findNextToGo();
        if (next === undefined) return;
        drop(next);
      }
    },
    remove(call: T): void {
      const length = kept.get(call);
      if (length === undefined) return;
      kept.delete(call);
      count(call, -length);
    },
  };
}

function lengthOf(lengths: ReadonlyMap<string, number>, owner: string): number {
  return lengths.get(owner) ?? 0;
}

function grow(lengths: Map<string, number>, owner: string, by: number): void {
  const length = lengthOf(lengths, owner) + by;
  if (length > 0) lengths.set(owner, length);
  else lengths.delete(owner);
}
