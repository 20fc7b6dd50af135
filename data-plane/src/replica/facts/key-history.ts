/** The history of bundle and feed keys, as published in the feed. */
import type { KeyHistory } from '@governance/shared/evidence/key-history';
import type { FactKindContext } from '../fact-kind.ts';

export function keyHistoryFacts({ facts }: FactKindContext) {
  return {
    finds: {
      /** Undefined where the feed has sent none that can be read. */
      findKeyHistory: (tenantId: string): KeyHistory | undefined =>
        facts.find(tenantId, 'optional.key_history', 'current'),
    },
  };
}
