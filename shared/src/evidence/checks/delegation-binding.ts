/**
 * `delegation.binding`: each chain of delegations that a decision names was issued link by link,
 * and ends with the agent that acted.
 */
import { z } from 'zod';
import type { LedgerRecord } from '../../ledger-record.ts';
import { EVIDENCE_MEMBERS, VOLUME_LIMITS } from '../evidence-package.ts';
import { adminSigner } from './approval-binding.ts';
import { type Check, isBefore, type Tally } from './check.ts';
import type { Evidence } from './evidence.ts';
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
type Issued = z.infer<typeof Issued> & { at: string };

interface Acted {
  line: number;
  chain: readonly string[];
  agentId: string;
  sessionId: string | null;
  at: string;
  isAllowed: boolean;
}

export function checkDelegations(tally: Tally, evidence: Evidence): Check {
  const issued = new Map<string, Issued>();
  const acted: Acted[] = [];

  function read(record: LedgerRecord | null, signer: KnownKey | undefined): void {
    if (record?.type !== 'admin_action' || record.action !== 'delegation_issued') return;
    if (signer?.purpose !== 'batch' || !record.target.startsWith('delegation/')) return;
    const details = Issued.safeParse(record.details);
    if (!details.success) return;
    const id = record.target.slice('delegation/'.length);
    issued.set(id, { ...details.data, at: record.timestamp });
  }

  function findFault({ chain, agentId, sessionId, at, isAllowed }: Acted): string | undefined {
    let before: { id: string; link: Issued } | undefined;
    for (const id of chain) {
      const link = issued.get(id);
      if (!link) return 'a delegation is not shown';
      if (link.parent_delegation_id !== (before?.id ?? null)) return 'a link is of another chain';
      if (before && link.delegator_agent_id !== before.link.delegatee_agent_id) {
        return 'a delegator was not delegated to';
      }
      if (link.workflow_session_id !== sessionId) return 'a delegation is of another session';
      // A denial may be due to its expiry.
      if (isAllowed && isBefore(link.expires_at, at)) return 'a delegation was over';
      if (isAllowed && isBefore(at, link.at)) return 'a delegation was issued after the call';
      before = { id, link };
    }
    return before?.link.delegatee_agent_id === agentId
      ? undefined
      : 'another agent was delegated to';
  }

  return {
    event: ({ line, record, batch }) => {
      read(record, batch?.signer ?? adminSigner(evidence, record));
      if (record?.type !== 'decision' || record.delegation_chain.length === 0) return;
      if (acted.length >= VOLUME_LIMITS.causes) {
        const location = lineOf(EVIDENCE_MEMBERS.events, line);
        tally.fail('there are more delegated calls than a volume may have', location);
        return;
      }
      acted.push({
        line,
        chain: record.delegation_chain,
        agentId: record.agent_id,
        sessionId: record.workflow_session_id,
        at: record.timestamp,
        isAllowed: record.policy_result === 'allow',
      });
    },
    cause: ({ record, batch }) => read(record, batch?.signer),
    end: () => {
      for (const one of acted) tally.judge(findFault(one), EVIDENCE_MEMBERS.events, one.line);
    },
  };
}
