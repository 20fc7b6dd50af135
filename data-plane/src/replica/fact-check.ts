import { AgentFact, FACTS, type FactKind } from '@governance/shared/facts';

/** Stored in the place of a fact that was refused, where its absence would permit something. */
export const REFUSED = '{"refused":true}';

/** A known kind of fact that was not accepted; what it concerned is denied. */
export interface RefusedFact {
  tenantId: string;
  kind: string;
  key: string;
  reason: string;
}

export type CheckedFact =
  | { text: string; reason: null; agent: AgentFact | null }
  | { text: typeof REFUSED; reason: string; agent: null };

/** What is stored of a fact: its own text, or that it was refused and why. */
export function checkFact(kind: string, key: string, value: unknown): CheckedFact {
  const refuse = (reason: string): CheckedFact => ({ text: REFUSED, reason, agent: null });
  // A kind that only a newer version knows is kept for it.
  if (isKnownKind(kind)) {
    const parsed = FACTS[kind].safeParse(value);
    if (!parsed.success) return refuse(parsed.error.message);
  }
  const agent = kind === 'agent' ? AgentFact.parse(value) : null;
  if (agent && agent.id !== key) return refuse('the key is not the id');
  return { text: JSON.stringify(value), reason: null, agent };
}

function isKnownKind(kind: string): kind is FactKind {
  return Object.hasOwn(FACTS, kind);
}
