/**
 * `delegation.binding`: each chain of delegations that a decision names was issued link by link,
 * and ends with the agent that acted.
 */
import { z } from 'zod';
import type { DecisionRecord, LedgerRecord } from '../../ledger/ledger-record.ts';
import { EVIDENCE_MEMBERS, VOLUME_LIMITS } from '../evidence-package.ts';
import { adminSigner } from './approval-binding.ts';
import { type Check, isBefore, type Tally } from './check.ts';
import { judgeDisputable, toDisputable } from './disputes.ts';
import type { DisputableRecord, Evidence } from './evidence.ts';
import type { KnownKey } from './keyset.ts';
import { lineOf } from './location.ts';

/** A delegation, as the control plane records it. */
const Issued = z.looseObject({
  workflow_session_id: z.string(),
  parent_delegation_id: z.string().nullable(),
  delegator_agent_id: z.string(),
  delegatee_agent_id: z.string(),
  expires_at: z.iso.datetime({ precision: 3 }),
});
export type IssuedDelegation = z.infer<typeof Issued> & { at: string };

/** A call under a chain of delegations. */
export interface DelegatedCall {
  chain: readonly string[];
  agentId: string;
  sessionId: string | null;
  at: string;
  isAllowed: boolean;
}

/** The call that a decision records, as this check compares it. */
export const toDelegatedCall = (record: DecisionRecord): DelegatedCall => ({
  chain: record.delegation_chain,
  agentId: record.agent_id,
  sessionId: record.workflow_session_id,
  at: record.timestamp,
  isAllowed: record.policy_result === 'allow',
});

/** @param skewMs by how much clocks may differ */
export function findDelegationFault(
  { chain, agentId, sessionId, at, isAllowed }: DelegatedCall,
  find: (id: string) => IssuedDelegation | undefined,
  skewMs?: number,
): string | undefined {
  let before: { id: string; link: IssuedDelegation } | undefined;
  for (const id of chain) {
    const link = find(id);
    if (!link) return 'a delegation is not shown';
    if (link.parent_delegation_id !== (before?.id ?? null)) return 'a link is of another chain';
    if (before && link.delegator_agent_id !== before.link.delegatee_agent_id) {
      return 'a delegator was not delegated to';
    }
    if (link.workflow_session_id !== sessionId) return 'a delegation is of another session';
    // A denial may be due to its expiry.
    if (isAllowed && isBefore(link.expires_at, at, skewMs)) return 'a delegation was over';
    if (isAllowed && isBefore(at, link.at, skewMs)) {
      return 'a delegation was issued after the call';
    }
    before = { id, link };
  }
  return before?.link.delegatee_agent_id === agentId ? undefined : 'another agent was delegated to';
}

/**
 * `delegation.binding`: each delegation of a chain was issued in the admin chain, the links join, and
 * the last is to the agent that acted; an allowed call came after each and within its time.
 */
export function checkDelegations(tally: Tally, evidence: Evidence): Check {
  const judged = { tally, evidence, check: 'delegation.binding' } as const;
  const issued = new Map<string, IssuedDelegation>();
  const acted: { record: DisputableRecord; call: DelegatedCall }[] = [];

  function read(record: LedgerRecord | null, signer: KnownKey | undefined): void {
    if (record?.type !== 'admin_action' || record.action !== 'delegation_issued') return;
    if (signer?.purpose !== 'batch' || !record.target.startsWith('delegation/')) return;
    const details = Issued.safeParse(record.details);
    if (!details.success) return;
    const id = record.target.slice('delegation/'.length);
    issued.set(id, { ...details.data, at: record.timestamp });
  }

  return {
    event: (event) => {
      const { line, record, batch } = event;
      read(record, batch?.signer ?? adminSigner(evidence, record));
      if (record?.type !== 'decision' || record.delegation_chain.length === 0) return;
      if (acted.length >= VOLUME_LIMITS.causes) {
        const location = lineOf(EVIDENCE_MEMBERS.events, line);
        tally.fail('there are more delegated calls than a volume may have', location);
        return;
      }
      acted.push({ record: toDisputable(event, record), call: toDelegatedCall(record) });
    },
    cause: ({ record, batch }) => read(record, batch?.signer),
    end: () => {
      for (const { record, call } of acted) {
        const fault = findDelegationFault(call, (id) => issued.get(id));
        judgeDisputable(judged, record, fault);
      }
    },
  };
}
