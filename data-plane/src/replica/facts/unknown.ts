/**
 * Kinds of fact that only a newer version knows. They are stored for it. Until then it is unknown
 * what they restrict, so the tenant's calls are denied, unless the control plane marked the kind
 * optional.
 */
import { FACTS, OPTIONAL_KIND } from '@governance/shared/channel/facts';
import type { FactKindContext } from '../fact-kind.ts';

const isUnknown = (kind: string) => !Object.hasOwn(FACTS, kind) && !kind.startsWith(OPTIONAL_KIND);

export const unknownFacts = ({ db, facts, isServed }: FactKindContext) => {
  const nextKind = db
    .prepare<[string, string], string>(
      'SELECT kind FROM facts WHERE tenant_id = ? AND kind > ? ORDER BY kind LIMIT 1',
    )
    .pluck();
  const found = new Map<string, string | undefined>();

  function readUnknown(tenantId: string): string | undefined {
    let kind = nextKind.get(tenantId, '');
    while (kind !== undefined && !isUnknown(kind)) kind = nextKind.get(tenantId, kind);
    if (kind === undefined) return undefined;
    const reason =
      'this version does not know facts of this kind; the calls of all agents are denied';
    facts.refuse({ tenantId, kind, key: '*', reason });
    return kind;
  }

  return {
    finds: {
      /** A kind of fact that was sent and cannot be enforced; undefined where there is none. */
      findUnknownKind(tenantId: string): string | undefined {
        if (!isServed(tenantId)) return undefined;
        if (!found.has(tenantId)) found.set(tenantId, readUnknown(tenantId));
        return found.get(tenantId);
      },
    },
    changed(tenantId: string, kind: string): void {
      if (isUnknown(kind)) found.delete(tenantId);
    },
    dropped: (tenantId: string): void => void found.delete(tenantId),
  };
};
