import { generateKeyPairSync } from 'node:crypto';
import { MAX_WORKFLOW_DEPTH } from '@governance/shared/channel/facts';
import { SKEW_MS } from '@governance/shared/evidence/checks/check';
import { uuidv7 } from '@governance/shared/ids';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import { expect, it } from 'vitest';
import { aDecision, createWriter } from '../../../tests/support/a-data-plane.ts';
import { judgeReferences, type Referring, referencesOf } from './reference-faults.ts';

const { privateKey } = generateKeyPairSync('ed25519');

/**
 * A call under the first of these delegations, each of which was issued under the one before.
 *
 * @param lateMs how long after their end
 */
function aCallUnder(issued: readonly string[], length: number, lateMs = 0) {
  const [session, agent] = [uuidv7(), uuidv7()];
  const writer = createWriter(uuidv7(), uuidv7(), privateKey);
  writer.boot();
  const { bytes, hash } = writer.append(
    aDecision({
      ...{ agent_id: agent, workflow_session_id: session, policy_result: 'allow' },
      ...{ bundle_revision: null, delegation_chain: issued.slice(0, length) },
    }),
  );
  const decision = parseRecord(bytes) as Referring['decision'];
  const referring = [{ seq: 2, hash, decision }];
  const { delegations } = referencesOf(referring);
  const expires_at = new Date(Date.parse(decision.timestamp) - lateMs).toISOString();
  const findDelegation = (id: string) => {
    if (!delegations.has(id)) return undefined;
    const parent_delegation_id = issued[issued.indexOf(id) - 1] ?? null;
    return {
      ...{ workflow_session_id: session, parent_delegation_id },
      ...{ delegator_agent_id: agent, delegatee_agent_id: agent },
      ...{ expires_at, at: decision.timestamp },
    };
  };
  const facts = { hasRevision: () => true, findApproval: () => undefined, findDelegation };
  return { named: delegations.size, ...judgeReferences(referring, facts) };
}

it('of a chain that is longer than can be issued no more is looked up, and it has a fault', () => {
  const issued = Array.from({ length: 1_000 }, () => uuidv7());
  const longest = aCallUnder(issued, MAX_WORKFLOW_DEPTH);
  expect(longest).toEqual({ named: MAX_WORKFLOW_DEPTH, faults: [], doubts: [] });
  const { named, faults } = aCallUnder(issued, 1_000);
  expect(named).toBe(MAX_WORKFLOW_DEPTH);
  expect(faults).toMatchObject([{ check: 'delegation.binding' }]);
});

it('what is late by less than clocks may differ is a doubt at most', () => {
  const fault = { seq: 2, check: 'delegation.binding' };
  const late = (ms: number) => aCallUnder([uuidv7()], 1, ms);
  expect(late(SKEW_MS - 60_000)).toMatchObject({ faults: [], doubts: [] });
  expect(late(SKEW_MS - 59_999)).toMatchObject({ faults: [], doubts: [fault] });
  expect(late(SKEW_MS)).toMatchObject({ faults: [], doubts: [fault] });
  expect(late(SKEW_MS + 1)).toMatchObject({ faults: [fault], doubts: [] });
});
