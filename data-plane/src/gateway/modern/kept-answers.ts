/**
 * Answers that wait for their clients, in total of a bounded length. Where it is exceeded, those of
 * the tenant that keeps most go first, and among these those of the agent that keeps most: nobody
 * loses an answer because of somebody who keeps more. Proven by kept-answers.test.ts.
 */
import { type ByteOwner, OwnedBytes } from '../../upstream/shares/owned-bytes.ts';

/** The call that an answer belongs to. */
interface AnsweredCall {
  readonly caller: ByteOwner;
}

/**
 * @param most characters of all answers
 * @param drop gives a call up, and removes it here
 */
export function createKeptAnswers<T extends AnsweredCall>(most: number, drop: (call: T) => void) {
  /** The lengths of answers, the oldest first. */
  const kept = new Map<T, number>();
  const counts = new OwnedBytes();

  function findNextToGo(): T | undefined {
    let found: T | undefined;
    for (const call of kept.keys()) {
      if (found === undefined || counts.hasMore(call.caller, found.caller)) found = call;
    }
    return found;
  }

  return {
    add(call: T, length: number): void {
      kept.set(call, length);
      counts.add(call.caller, length);
      while (counts.total > most) {
        const next = findNextToGo();
        if (next === undefined) return;
        drop(next);
      }
    },
    remove(call: T): void {
      const length = kept.get(call);
      if (length === undefined) return;
      kept.delete(call);
      counts.add(call.caller, -length);
    },
  };
}
