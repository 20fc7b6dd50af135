/** What is told of requesters and delegations, over two data planes and over restarts. */

import { uuidv7 } from '@governance/shared/ids';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { DELEGATOR_LACKS } from '@governance/shared/tokens/delegation-scope';
import { beforeEach, describe, expect, it } from 'vitest';
import { aDataPlane, aDecision } from '../../../tests/support/a-data-plane.ts';
import { anAgent } from '../../../tests/support/an-agent.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { REMOVED_NAME } from '../sessions/session-key.ts';
import { createDispositionFlush } from './disposition-flush.ts';

const MINUTE = 60_000;
let time = Date.now();
const now = () => new Date(time);
const { call, test, controlPlane, aTenantAdmin } = await testControlPlane({ now });

type Decision = Partial<Extract<UnchainedRecord, { type: 'decision' }>>;

let admin: Awaited<ReturnType<typeof aTenantAdmin>>;
let agent: string;
let planes: Awaited<ReturnType<typeof aDataPlane>>[];
let shipped: number[];

beforeEach(async () => {
  admin = await aTenantAdmin();
  agent = (await anAgent(test, admin.scope)).id;
  planes = [await aDataPlane(test, admin.scope), await aDataPlane(test, admin.scope)];
  for (const plane of planes) plane.boot();
  shipped = [0, 0];
});

function decide(which: 0 | 1, minutesAgo: number, over: Decision): void {
  const timestamp = new Date(time - minutesAgo * MINUTE).toISOString();
  planes[which]?.append(aDecision({ timestamp, agent_id: agent, ...over }));
}

/** Ships what was decided, runs the detectors anew, and tells how many alerts of a type there are. */
async function told(type: string) {
  for (const [which, plane] of planes.entries()) {
    const from = shipped[which] ?? 0;
    if (plane.records.length === from) continue;
    shipped[which] = plane.records.length;
    const batch = plane.batch(from);
    await controlPlane.ingest.ingestBatch(admin.scope.tenantId, plane.deploymentId, batch);
  }
  const { db } = controlPlane;
  await createDispositionFlush({ db, now, tokenNow: now, settledNow: now, everyMs: MINUTE }).run(
    new AbortController().signal,
  );
  const answer = await call('/api/v1/monitor/alerts', { token: admin.token });
  const all = answer.json().alerts as { id: string; alert_type: string; details: unknown }[];
  return all.filter(({ alert_type }) => alert_type === type);
}

const resolveAll = async (type: string) => {
  for (const { id } of await told(type)) {
    const body = { status: 'resolved' };
    await call(`/api/v1/monitor/alerts/${id}`, { token: admin.token, method: 'PATCH', body });
  }
};

describe('REQUESTER_SESSION_CYCLING', () => {
  const CYCLING = 'REQUESTER_SESSION_CYCLING';
  const open = (minutesAgo: number, over: Decision = {}, which: 0 | 1 = 0) =>
    decide(which, minutesAgo, { requester_id: 'ann', session_id: uuidv7(), ...over });

  it('is raised at the fifth session of a requester in half an hour, over agents and planes', async () => {
    const other = (await anAgent(test, admin.scope)).id;
    open(36);
    open(30);
    open(20, { agent_id: other }, 1);
    open(10, {}, 1);
    open(5);
    expect(await told(CYCLING)).toEqual([]);
    open(1, { agent_id: other });
    expect(await told(CYCLING)).toMatchObject([
      { severity: 'medium', details: { requester_id: 'ann', sessions: 5, agents: 2 } },
    ]);
  });

  it('is raised whichever of them comes last', async () => {
    for (const minutes of [30, 20, 10, 1]) open(minutes);
    expect(await told(CYCLING)).toEqual([]);
    open(15, {}, 1);
    expect(await told(CYCLING)).toHaveLength(1);
  });

  it('is as many as the tenant says', async () => {
    const body = { sessions: { cycling_sessions: 3 } };
    await call('/api/v1/admin/settings', { token: admin.token, method: 'PATCH', body });
    open(3);
    open(2);
    expect(await told(CYCLING)).toEqual([]);
    open(1);
    expect(await told(CYCLING)).toHaveLength(1);
  });

  it('is not raised for an agent that names nobody, nor where names are removed', async () => {
    for (const requester_id of [null, REMOVED_NAME]) {
      for (const minutes of [6, 5, 4, 3, 2, 1]) open(minutes, { requester_id });
    }
    expect(await told(CYCLING)).toEqual([]);
  });

  it('is raised again for another session, not when one continues', async () => {
    const session_id = uuidv7();
    for (const minutes of [5, 4, 3, 2]) open(minutes);
    open(1, { session_id });
    expect(await told(CYCLING)).toHaveLength(1);
    await resolveAll(CYCLING);
    time += 6 * MINUTE;
    open(0, { session_id });
    expect(await told(CYCLING)).toHaveLength(1);
    open(0);
    expect(await told(CYCLING)).toHaveLength(2);
  });
});

describe('REQUESTER_IDENTITY_MISMATCH', () => {
  const MISMATCH = 'REQUESTER_IDENTITY_MISMATCH';
  const delegation = uuidv7();
  const name = (requester_id: string, which: 0 | 1 = 0, over: Decision = {}) =>
    decide(which, 0, { requester_id, delegation_chain: [uuidv7(), delegation], ...over });

  it('is raised once for a name in a quarter of an hour, over both planes', async () => {
    name('trudy');
    name('trudy', 1);
    expect(await told(MISMATCH)).toMatchObject([
      { severity: 'high', agent_id: agent, details: { delegation_id: delegation, names: 1 } },
    ]);
    await resolveAll(MISMATCH);
    time += 14 * MINUTE;
    name('trudy', 1);
    expect(await told(MISMATCH)).toHaveLength(1);
    name('mallory');
    const two = await told(MISMATCH);
    expect(two).toHaveLength(2);
    expect(two[0]).toMatchObject({ details: { names: 2 } });
    await resolveAll(MISMATCH);
    time += 16 * MINUTE;
    name('trudy');
    const three = await told(MISMATCH);
    expect(three).toHaveLength(3);
    expect(three[0]).toMatchObject({ details: { names: 1 } });
    expect(JSON.stringify(three)).not.toMatch(/trudy|mallory/);
  });

  it('is not raised where the delegation names the requester, or without a delegation', async () => {
    name('ann', 0, { requester_verified: true });
    name('trudy', 0, { delegation_chain: [] });
    expect(await told(MISMATCH)).toEqual([]);
  });
});

describe('DELEGATION_SCOPE_PROBE', () => {
  const PROBE = 'DELEGATION_SCOPE_PROBE';
  const DENIED = { policy_result: 'deny', decided_by: 'scope-probe' } as const;
  const why = 'the delegation does not cover this call';
  let delegation: string;
  beforeEach(() => {
    delegation = uuidv7();
  });
  const probe = (which: 0 | 1, over: Decision = {}) =>
    decide(which, 0, {
      ...{ ...DENIED, policy_reason: why, delegation_chain: [delegation] },
      ...over,
    });

  it('is raised at the third probe of a delegation, over both planes and restarts', async () => {
    probe(0);
    expect(await told(PROBE)).toEqual([]);
    probe(1);
    expect(await told(PROBE)).toEqual([]);
    probe(0);
    expect(await told(PROBE)).toMatchObject([
      { agent_id: agent, details: { delegation_id: delegation, probes: 3 } },
    ]);
    probe(1);
    expect(await told(PROBE)).toHaveLength(1);
  });

  it('counts probes whose reason was redacted', async () => {
    for (const which of [0, 1, 0] as const) {
      probe(which, {
        policy_reason: 'the [REDACTED] does not',
        protected_fields: ['policy_reason'],
      });
    }
    expect(await told(PROBE)).toMatchObject([{ details: { probes: 3 } }]);
  });

  it('counts each delegation by itself, and no call that lies within its scope', async () => {
    probe(0);
    probe(0);
    probe(0, { delegation_chain: [delegation, uuidv7()] });
    probe(0, { policy_reason: DELEGATOR_LACKS });
    probe(0, { decided_by: 'policy' });
    // A server asks this, not the agent.
    probe(0, { method: 'elicitation/create', tool_name: 'mcp:elicitation/create' });
    probe(0, { policy_result: 'allow', decided_by: 'policy', policy_reason: null });
    expect(await told(PROBE)).toEqual([]);
  });

  it('is not raised a second time by a data plane of an earlier version', async () => {
    for (const _ of [1, 2, 3]) probe(0);
    planes[0]?.append({
      type: 'alert',
      id: uuidv7(),
      timestamp: now().toISOString(),
      bundle_revision: null,
      alert_type: PROBE,
      severity: 'high',
      agent_id: agent,
      title: 'as it was written',
      details: { probes: 3 },
      dedupe_key: `delegation-probe:${delegation}`,
    });
    expect(await told(PROBE)).toMatchObject([{ details: { delegation_id: delegation } }]);
  });
});
