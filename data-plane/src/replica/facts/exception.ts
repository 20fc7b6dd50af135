/**
 * Exceptions, by the agent, server and tool that they name: a look-up costs the same however many
 * others there are. An unreadable one, or one too many, is ignored: it could only permit.
 */

import { MAX_EXCEPTIONS } from '@governance/shared/channel/exceptions';
import type { ExceptionFact } from '@governance/shared/channel/facts';
import type { ExceptionPlace } from '../../contracts.ts';
import type { FactKindContext } from '../fact-kind.ts';

const KIND = 'optional.exception';

/** Expired ones stay for a while beside the active ones. */
const MAX_KEPT = 2 * MAX_EXCEPTIONS;

/** A tenant's exceptions, built from the stored facts on first use. */
class ExceptionIndex {
  readonly #byShape = new Map<string, Map<string, ExceptionFact>>();
  readonly #shapes = new Map<string, string>();

  put(fact: ExceptionFact): void {
    this.remove(fact.id);
    if (this.#shapes.size >= MAX_KEPT) return;
    const shape = shapeOf(fact.agent_id, fact.mcp_server, fact.tool_name);
    const same = this.#byShape.get(shape) ?? new Map<string, ExceptionFact>();
    same.set(fact.id, fact);
    this.#byShape.set(shape, same);
    this.#shapes.set(fact.id, shape);
  }

  remove(id: string): void {
    const shape = this.#shapes.get(id);
    if (shape === undefined) return;
    this.#shapes.delete(id);
    const same = this.#byShape.get(shape);
    same?.delete(id);
    if (same?.size === 0) this.#byShape.delete(shape);
  }

  find({ agentId, serverId, toolName }: ExceptionPlace): ExceptionFact[] {
    if (this.#shapes.size === 0) return [];
    return [agentId, null].flatMap((agent) =>
      [serverId, null].flatMap((server) =>
        [toolName, null].flatMap((tool) => [
          ...(this.#byShape.get(shapeOf(agent, server, tool))?.values() ?? []),
        ]),
      ),
    );
  }
}

function shapeOf(agentId: string | null, serverId: string | null, toolName: string | null): string {
  return JSON.stringify([agentId, serverId, toolName]);
}

export const exceptionFacts = ({ db, facts, isServed }: FactKindContext) => {
  const listKeys = db
    .prepare<[string, string], string>('SELECT key FROM facts WHERE tenant_id = ? AND kind = ?')
    .pluck();
  const indexes = new Map<string, ExceptionIndex>();

  function read(tenantId: string, key: string): ExceptionFact | undefined {
    const fact = facts.read(tenantId, KIND, key);
    return fact.state === 'known' && fact.value.id === key ? fact.value : undefined;
  }

  function indexOf(tenantId: string): ExceptionIndex {
    const known = indexes.get(tenantId);
    if (known !== undefined) return known;
    const index = new ExceptionIndex();
    for (const key of listKeys.all(tenantId, KIND)) {
      const fact = read(tenantId, key);
      if (fact !== undefined) index.put(fact);
    }
    indexes.set(tenantId, index);
    return index;
  }

  return {
    finds: {
      findExceptions: (tenantId: string, place: ExceptionPlace): readonly ExceptionFact[] =>
        isServed(tenantId) ? indexOf(tenantId).find(place) : [],
    },
    changed(tenantId: string, kind: string, key: string): void {
      const index = kind === KIND ? indexes.get(tenantId) : undefined;
      if (index === undefined) return;
      index.remove(key);
      const fact = read(tenantId, key);
      if (fact !== undefined) index.put(fact);
    },
    dropped: (tenantId: string): void => void indexes.delete(tenantId),
  };
};
