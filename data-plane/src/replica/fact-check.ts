import { FACTS, type FactKind } from '@governance/shared/facts';

/** Stored in place of a refused fact: its absence might permit something. */
export const REFUSED = '{"refused":true}';

/** A fact that was refused; what it concerns is denied. */
export interface RefusedFact {
  tenantId: string;
  kind: string;
  key: string;
  reason: string;
}

/** The text to store for a fact, and the reason where it was refused. */
export interface CheckedFact {
  text: string;
  reason: string | null;
}

export const refusedFor = (reason: string): CheckedFact => ({ text: REFUSED, reason });

/** @param index the one of the fact's kind, where that has one */
export function checkFact(
  kind: string,
  key: string,
  value: unknown,
  index: { checkKey(fact: never, key: string): boolean } | undefined,
): CheckedFact {
  // A kind that only a newer version knows is kept for it.
  const parsed = isKnownKind(kind) ? FACTS[kind].safeParse(value) : null;
  if (parsed?.error) return refusedFor(parsed.error.message);
  if (index && !index.checkKey(value as never, key)) return refusedFor('the key is not the id');
  return { text: JSON.stringify(value), reason: null };
}

function isKnownKind(kind: string): kind is FactKind {
  return Object.hasOwn(FACTS, kind);
}
