/**
 * Workflows, their sessions and delegations, and the keys of their tokens. Unreadable facts count
 * as missing, so that a token which names one is refused.
 */
import type { DelegationFact, TokenKeysFact } from '@governance/shared/channel/facts';
import type { SessionTokenClass } from '@governance/shared/tokens/session-token';
import { createFactCache } from '../fact-cache.ts';
import type { FactKindContext } from '../fact-kind.ts';

const CACHED_FACTS = 10_000;
export const workflowFacts = (context: FactKindContext) => {
  const { facts } = context;
  const kinds = ['workflow', 'workflow_session', 'delegation'] as const;
  const { find, changed, dropped } = createFactCache(context, kinds, CACHED_FACTS);

  return {
    finds: {
      findSessionTokenKeys: (
        tenantId: string,
        kind: SessionTokenClass,
      ): TokenKeysFact | undefined => facts.find(tenantId, 'optional.session_token_keys', kind),
      findWorkflowSession(tenantId: string, sessionId: string) {
        const session = find(tenantId, 'workflow_session', sessionId);
        const workflow = session && find(tenantId, 'workflow', session.workflow_id);
        return session && workflow && { session, workflow };
      },
      findDelegation: (tenantId: string, id: string): DelegationFact | undefined =>
        find(tenantId, 'delegation', id),
    },
    changed,
    dropped,
  };
};
