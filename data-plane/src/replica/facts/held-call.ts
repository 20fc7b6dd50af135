/**
 * Calls that wait for people at other data planes of the tenant. An unreadable one is unknown: the
 * call is then held here as well, and permitted nowhere.
 */
import type { HeldCallFact } from '@governance/shared/channel/facts';
import { createListeners } from '../../storage/listeners.ts';
import type { FactKindContext } from '../fact-kind.ts';

const KIND = 'optional.held_call';

export const heldCallFacts = ({ db, facts, findDeploymentId }: FactKindContext) => {
  const { notify, add } = createListeners<[]>();
  /** The bindings of each tenant: most calls have none, and nothing is computed for them. */
  const bindings = new Map<string, Set<string>>();
  const list = db
    .prepare<[string, string], string>('SELECT key FROM facts WHERE tenant_id = ? AND kind = ?')
    .pluck();

  function bindingsOf(tenantId: string): Set<string> {
    const known = bindings.get(tenantId) ?? new Set(list.all(tenantId, KIND));
    bindings.set(tenantId, known);
    return known;
  }

  return {
    finds: {
      hasHeldCalls: (tenantId: string): boolean => bindingsOf(tenantId).size > 0,
      findHeldElsewhere(tenantId: string, binding: string): HeldCallFact | undefined {
        if (!bindingsOf(tenantId).has(binding)) return undefined;
        const fact = facts.read(tenantId, KIND, binding);
        if (fact.state !== 'known') return undefined;
        return fact.value.deployment_id === findDeploymentId(tenantId) ? undefined : fact.value;
      },
      /** @returns the unsubscribe */
      onHeldCall: add,
    },
    changed(tenantId: string, kind: string): void {
      if (kind !== KIND) return;
      bindings.delete(tenantId);
      notify();
    },
    dropped(tenantId: string): void {
      bindings.delete(tenantId);
      notify();
    },
  };
};
