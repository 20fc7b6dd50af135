/** What happened at test tenants, for packages of every kind. */
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { idOf } from './test-keys.ts';
import { type TestStream, TestTenant, timeOf } from './test-tenant.ts';

export interface Story {
  tenant: TestTenant;
  one: TestStream;
  two: TestStream;
}

/** Two data planes, two epochs, eight leaves. */
export function aStory(seed = 'story'): Story {
  const tenant = new TestTenant(seed);
  tenant.act('tenant_created', 'tenant', {});
  const one = tenant.plane('plane-1');
  tenant.decide(one, { payload: '{"path":"report.txt"}' });
  tenant.decide(one);
  one.ship();
  const two = tenant.plane('plane-2');
  tenant.decide(two);
  two.ship();
  tenant.decide(one);
  tenant.decide(one);
  tenant.decide(one);
  one.ship();
  one.boot();
  tenant.decide(one);
  one.ship();
  tenant.decide(two);
  tenant.decide(two);
  two.ship();
  tenant.act('policy_created', 'policy', {});
  tenant.decide(one);
  one.ship();
  return { tenant, one, two };
}

/** A call that waited for a person, and was made once it was approved. */
export function anApproval({ tenant, one }: Story, given: Record<string, unknown> = {}): void {
  const agentId = idOf(`${tenant.seed}/agent`);
  const escalationId = tenant.nextId();
  const grantId = tenant.nextId();
  const instruction_hash = recordHash(Buffer.from('held'));
  const call = { agent_id: agentId, mcp_server: 'files', tool_name: 'delete_file' };
  const held = tenant.decide(one, {
    ...call,
    policy_result: 'escalate',
    escalation_id: escalationId,
    instruction_hash,
  });
  one.add({
    type: 'hold_opened',
    bundle_revision: 7,
    escalation_id: escalationId,
    event_id: held,
    held: 'call',
    requester_id: null,
    method: 'tools/call',
    target: 'files/report.txt',
    risk_tier: 'high',
    reason: null,
    timeout_at: timeOf(1_000),
    ...call,
    instruction_hash,
  });
  one.ship();
  tenant.act('escalation_approved', `escalation/${escalationId}`, {
    ...call,
    event_id: held,
    deployment_id: one.id,
    instruction_hash,
    notes: null,
    grant_id: grantId,
    grant_expires_at: timeOf(900),
    ...given,
  });
  tenant.decide(one, { ...call, grant_id: grantId });
  one.ship();
}

/** A call by an agent to which another agent delegated. */
export function aDelegation({ tenant, two }: Story, given: Record<string, unknown> = {}): void {
  const [first, second] = [tenant.nextId(), tenant.nextId()];
  const sessionId = tenant.nextId();
  const [owner, helper, last] = ['owner', 'helper', 'last'].map((name) => idOf(name));
  const common = {
    workflow_session_id: sessionId,
    tools: ['*'],
    resources: ['*'],
    requester: 'anna',
    expires_at: timeOf(900),
    reason: 'a test',
  };
  tenant.act('delegation_issued', `delegation/${first}`, {
    ...common,
    parent_delegation_id: null,
    delegator_agent_id: owner,
    delegatee_agent_id: helper,
    depth: 1,
  });
  tenant.act('delegation_issued', `delegation/${second}`, {
    ...common,
    parent_delegation_id: first,
    delegator_agent_id: helper,
    delegatee_agent_id: last,
    depth: 2,
    ...given,
  });
  tenant.decide(two, {
    agent_id: last ?? '',
    workflow_session_id: sessionId,
    delegation_chain: [first, second],
  });
  two.ship();
}
