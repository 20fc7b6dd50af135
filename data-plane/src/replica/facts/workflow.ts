/**
 * Workflows, their sessions and the delegations in them, and the keys of their tokens. What cannot be
 * read is not there, so that a token which names it is refused.
 */
import type {
  DelegationFact,
  FactOf,
  TokenKeysFact,
  WorkflowFact,
  WorkflowSessionFact,
} from '@governance/shared/facts';
import type { SessionTokenClass } from '@governance/shared/session-token';
import { LRUCache } from 'lru-cache';
import type { FactKindContext } from '../fact-kind.ts';

const CACHED_FACTS = 10_000;
const KINDS = ['workflow', 'workflow_session', 'delegation'] as const;
type Kind = (typeof KINDS)[number];

const isKind = (kind: string): kind is Kind => (KINDS as readonly string[]).includes(kind);

export interface SessionOfWorkflow {
  session: WorkflowSessionFact;
  workflow: WorkflowFact;
}

export const workflowFacts = ({ facts, isServed }: FactKindContext) => {
  const known = new LRUCache<string, FactOf<Kind>>({ max: CACHED_FACTS });

  function find<K extends Kind>(tenantId: string, kind: K, id: string): FactOf<K> | undefined {
    const place = `${tenantId}/${kind}/${id}`;
    const cached = known.get(place);
    if (cached !== undefined) return cached as FactOf<K>;
    const fact = isServed(tenantId) ? facts.read(tenantId, kind, id) : undefined;
    if (fact?.state !== 'known' || fact.value.id !== id) return undefined;
    known.set(place, fact.value);
    return fact.value;
  }

  return {
    finds: {
      findSessionTokenKeys: (
        tenantId: string,
        kind: SessionTokenClass,
      ): TokenKeysFact | undefined => facts.find(tenantId, 'optional.session_token_keys', kind),
      /** A session that has not ended, whether or not its time is over, and its workflow. */
      findWorkflowSession(tenantId: string, sessionId: string): SessionOfWorkflow | undefined {
        const session = find(tenantId, 'workflow_session', sessionId);
        const workflow = session && find(tenantId, 'workflow', session.workflow_id);
        return session && workflow && { session, workflow };
      },
      findDelegation: (tenantId: string, id: string): DelegationFact | undefined =>
        find(tenantId, 'delegation', id),
    },
    changed(tenantId: string, kind: string, key: string): void {
      if (isKind(kind)) known.delete(`${tenantId}/${kind}/${key}`);
    },
    dropped(tenantId: string): void {
      for (const place of known.keys()) {
        if (place.startsWith(`${tenantId}/`)) known.delete(place);
      }
    },
  };
};
