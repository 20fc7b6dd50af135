import { FACTS, type FactKind } from '@governance/shared/channel/facts';
import { zodFault } from '@governance/shared/http/zod-fault';

/** Stored in place of a refused fact, whose absence might permit something. */
export const REFUSED = '{"refused":true}';

/** A refused fact; calls that it concerns are denied. */
export interface RefusedFact {
  tenantId: string;
  kind: string;
  key: string;
  reason: string;
}

/** The text to store for a fact, and the reason if it was refused. */
export interface CheckedFact {
  text: string;
  reason: string | null;
}

export const refusedFor = (reason: string): CheckedFact => ({ text: REFUSED, reason });

/** @param index the index of the fact's kind, if it has one */
export function checkFact(
  kind: string,
  key: string,
  value: unknown,
  index: { checkKey(fact: never, key: string): boolean } | undefined,
): CheckedFact {
  // A kind that only a newer version knows is stored for it.
  const parsed = isKnownKind(kind) ? FACTS[kind].safeParse(value) : null;
  if (parsed?.error) return refusedFor(zodFault(parsed.error));
  if (index && !index.checkKey(value as never, key)) return refusedFor('the key is not the id');
  return { text: JSON.stringify(value), reason: null };
}

function isKnownKind(kind: string): kind is FactKind {
  return Object.hasOwn(FACTS, kind);
}
