/**
 * How escalations of this data plane ended. An unreadable one leaves its call to the time-out: it
 * permits nothing. Read on arrival and after a start, not at each call.
 */
import type { EscalationFact } from '@governance/shared/channel/facts';
import { createListeners } from '../../storage/listeners.ts';
import type { FactKindContext } from '../fact-kind.ts';

const KIND = 'optional.escalation';

export const escalationFacts = ({ facts, findDeploymentId }: FactKindContext) => {
  const { notify, add } = createListeners<[tenantId: string, escalationId: string | null]>();

  return {
    finds: {
      findEscalation(tenantId: string, escalationId: string): EscalationFact | undefined {
        const deploymentId = findDeploymentId(tenantId);
        if (deploymentId === undefined) return undefined;
        const fact = facts.read(tenantId, KIND, `${deploymentId}/${escalationId}`);
        if (fact.state !== 'known') return undefined;
        const { escalation_id, deployment_id } = fact.value;
        const isOwn = escalation_id === escalationId && deployment_id === deploymentId;
        return isOwn ? fact.value : undefined;
      },
      /**
       * Calls back with the id of a resolved escalation, or with null when all are to be checked.
       *
       * @returns the unsubscribe
       */
      onEscalation: add,
    },
    changed(tenantId: string, kind: string, key: string): void {
      if (kind === KIND) notify(tenantId, key.slice(key.indexOf('/') + 1));
    },
    dropped: (tenantId: string): void => notify(tenantId, null),
  };
};
