/** How keys of bundles and of the feed followed one another, as the feed told it. */
import type { KeyHistory } from '@governance/shared/key-history';
import type { FactKindContext } from '../fact-kind.ts';

export function keyHistoryFacts({ facts }: FactKindContext) {
  return {
    finds: {
      /** Undefined where the feed has told of none that can be read. */
      findKeyHistory: (tenantId: string): KeyHistory | undefined =>
        facts.find(tenantId, 'optional.key_history', 'current'),
    },
  };
}
