/** The kinds of fact that enforcement uses: one file and one line each. */
import type { FactKindContext, KindOfFact } from './fact-kind.ts';
import { agentFacts } from './facts/agent.ts';
import { agentCredentialFacts } from './facts/agent-credential.ts';
import { escalationFacts } from './facts/escalation.ts';
import { exceptionFacts } from './facts/exception.ts';
import { heldCallFacts } from './facts/held-call.ts';
import { identifierKeyFacts } from './facts/identifier-key.ts';
import { keyHistoryFacts } from './facts/key-history.ts';
import { killSwitchFacts } from './facts/kill-switch.ts';
import { tokenKeyFacts } from './facts/token-keys.ts';
import { unknownFacts } from './facts/unknown.ts';
import { upstreamCredentialFacts } from './facts/upstream-credential.ts';
import { workflowFacts } from './facts/workflow.ts';

const FACT_KINDS = [
  agentFacts,
  agentCredentialFacts,
  identifierKeyFacts,
  escalationFacts,
  heldCallFacts,
  exceptionFacts,
  keyHistoryFacts,
  killSwitchFacts,
  tokenKeyFacts,
  unknownFacts,
  upstreamCredentialFacts,
  workflowFacts,
];

type Finds<Kind> = Kind extends (context: FactKindContext) => { finds: infer F }
  ? (finds: F) => void
  : never;

/** The look-ups of all kinds. */
export type FactFinds =
  Finds<(typeof FACT_KINDS)[number]> extends (finds: infer All) => void ? All : never;

/** Creates every kind of the list. */
export function createFactKinds(context: FactKindContext) {
  const { facts } = context;
  const kinds: KindOfFact[] = FACT_KINDS.map((create) => create(context));
  return {
    finds: Object.assign({}, ...kinds.map(({ finds }) => finds)) as FactFinds,
    indexes: kinds.flatMap(({ index }) => index ?? []),
    /** Forgets what is cached of a fact. */
    forget: (tenantId: string, kind: string, key: string): void => {
      facts.forget(tenantId, kind, key);
      for (const one of kinds) one.changed?.(tenantId, kind, key);
    },
    forgetTenant: (tenantId: string): void => {
      facts.forgetTenant(tenantId);
      for (const one of kinds) one.dropped?.(tenantId);
    },
  };
}
