import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  aDataPlane,
  aDecision,
  anOutcome,
  type TestDataPlane,
} from '../../../tests/support/a-data-plane.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import type { AuditEvent } from './audit-event.ts';
import { COUNT_BEYOND_PAGE } from './audit-service.ts';

const cp = await testControlPlane();
const { call, test, controlPlane, aTenantAdmin } = cp;

interface Setting {
  tenantId: string;
  token: string;
  plane: TestDataPlane;
  ship(): Promise<void>;
}

async function aSetting(): Promise<Setting> {
  const { scope, token } = await aTenantAdmin();
  const plane = await aDataPlane(test, scope);
  plane.boot();
  let shipped = 0;
  const ship = async () => {
    await controlPlane.ingest.ingestBatch(scope.tenantId, plane.deploymentId, plane.batch(shipped));
    shipped = plane.records.length;
  };
  return { tenantId: scope.tenantId, token, plane, ship };
}

const minute = (n: number) => new Date(Date.UTC(2026, 0, 2, 3, n)).toISOString();

async function list(token: string, query = ''): Promise<{ events: AuditEvent[]; total: number }> {
  const answer = await call(`/api/v1/audit/events${query}`, { token });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
}

describe('GET /api/v1/audit/events', () => {
  it('shows every field of a decision, joined with its outcome', async () => {
    const { token, plane, ship } = await aSetting();
    const parent = randomUUID();
    const decision = aDecision({
      policy_reason: 'because',
      dlp_action: 'warned',
      dlp_findings_count: 1,
      dlp_findings: [{ severity: 'high', pattern: 'email' }],
      behavioral_score: 12.5,
      workflow_session_id: randomUUID(),
      causal_depth: 2,
      parent_event_id: parent,
      delegation_chain: [parent],
      requester_id: 'alice',
      requester_verified: true,
      region: 'eu',
      session_id: 's-1',
      escalation_id: randomUUID(),
      grant_id: randomUUID(),
      exception_id: randomUUID(),
      model: { name: 'm-1', has_system_prompt: true, has_tools: false, message_count: 3 },
    });
    plane.append(decision);
    await ship();
    const before = (await list(token)).events.find((event) => event.id === decision.id);
    expect(before).toMatchObject({ outcome: null, latency_ms: 1.5 });
    const inspection = {
      step: 'injection',
      inbound_findings: [{ class: 'urgency_framing', severity: 'low' as const }],
      dlp_findings_count: 0,
      dlp_findings: [],
      replacement_digest: 'b'.repeat(64),
      escalation_id: null,
    };
    const usage = { status: 200, input_tokens: 7, output_tokens: 9, finish_reason: 'stop' };
    plane.append(
      anOutcome(decision.id, {
        latency_ms: 40,
        result_digest: 'a'.repeat(64),
        result_action: 'replaced',
        inbound_findings_count: 1,
        inspection,
        model_usage: usage,
      }),
    );
    await ship();
    const { type: _, ...fields } = decision;
    const { events } = await list(token);
    expect(events.find((event) => event.id === decision.id)).toEqual({
      ...fields,
      event_type: 'tool_call',
      received_at: expect.stringMatching(/Z$/),
      latency_ms: 40,
      outcome: 'forwarded',
      outcome_detail: null,
      result_digest: 'a'.repeat(64),
      result_digest_salted: true,
      result_action: 'replaced',
      inbound_findings_count: 1,
      inspection,
      model_usage: usage,
      result_payload_digest: null,
      actor: null,
      details: null,
      stream: plane.deploymentId,
      epoch: 1,
      seq: 2,
      prev_hash: plane.records[0]?.hash,
      hash: plane.records[1]?.hash,
      violations: [],
      readable: true,
    });
  });

  it('shows what administrators did, with the actor', async () => {
    const { token } = await aSetting();
    const role = await call('/api/v1/roles', { token, body: { name: 'reader' } });
    const { events } = await list(token);
    expect(events[0]).toMatchObject({
      event_type: 'admin_action',
      action: 'role_created',
      target: `role/${role.json().id}`,
      actor: { role: 'admin', break_glass: false },
      details: { name: 'reader' },
      policy_result: null,
      agent_id: null,
    });
  });

  it('filters by agent, result and half-open time, newest first, in pages', async () => {
    const { token, plane, ship } = await aSetting();
    const [one, two] = [randomUUID(), randomUUID()];
    for (const [n, agent_id, policy_result] of [
      [0, one, 'allow'],
      [1, one, 'deny'],
      [2, two, 'escalate'],
      [3, one, 'dlp_block'],
      [4, two, 'allow'],
    ] as const) {
      plane.append(aDecision({ agent_id, policy_result, timestamp: minute(n) }));
    }
    await ship();
    const minutes = async (query: string) => {
      const { events, total } = await list(token, query);
      return [events.map((event) => new Date(event.timestamp).getUTCMinutes()), total];
    };
    expect(await minutes(`?agent_id=${one}`)).toEqual([[3, 1, 0], 3]);
    expect(await minutes(`?agent_id=${one.toUpperCase()}&policy_result=deny`)).toEqual([[1], 1]);
    expect(await minutes('?policy_result=dlp_block')).toEqual([[3], 1]);
    expect(await minutes(`?from=${minute(1)}&to=${minute(3)}`)).toEqual([[2, 1], 2]);
    expect(await minutes(`?agent_id=${one}&limit=1&offset=1`)).toEqual([[1], 3]);
    expect(await minutes(`?agent_id=${one}&offset=7`)).toEqual([[], 3]);
    expect(await minutes(`?agent_id=${randomUUID()}`)).toEqual([[], 0]);
    const zone = encodeURIComponent('2026-01-02T05:01:00+02:00');
    expect(await minutes(`?from=${zone}&to=${minute(2)}`)).toEqual([[1], 1]);
    expect((await minutes(`?to=1900-01-01T00:00:00Z`))[1]).toBe(0);
  });

  it('names the event type by the result', async () => {
    const { token, plane, ship } = await aSetting();
    for (const policy_result of ['allow', 'deny', 'dlp_block', 'escalate'] as const) {
      plane.append(aDecision({ policy_result }));
    }
    await ship();
    const types = Object.fromEntries(
      (await list(token)).events.map((event) => [event.policy_result, event.event_type]),
    );
    expect(types).toEqual({
      allow: 'tool_call',
      deny: 'policy_deny',
      dlp_block: 'policy_deny',
      escalate: 'policy_escalate',
      null: 'admin_action',
    });
  });

  it('counts no further than it has to, and says so', async () => {
    const { token, tenantId, plane, ship } = await aSetting();
    plane.append(aDecision());
    await ship();
    // Copies that no chain holds: only their number matters here.
    const copies = COUNT_BEYOND_PAGE + 50;
    await test.superuser.query(
      `INSERT INTO ledger_records SELECT tenant_id, received_at, position + n, stream, epoch, seq + n,
         type, id, subject_id, agent_id, policy_result, event_time, hash, prev_hash, bytes
       FROM ledger_records, generate_series(1, $2) n WHERE tenant_id = $1 AND type = 'decision'`,
      [tenantId, copies],
    );
    const url = '/api/v1/audit/events?policy_result=allow&limit=10';
    const first = (await call(url, { token })).json();
    expect(first).toMatchObject({ total: COUNT_BEYOND_PAGE + 10, total_is_exact: false });
    const later = (await call(`${url}&offset=45`, { token })).json();
    expect(later).toMatchObject({ total: copies + 1, total_is_exact: true });
  });

  it('continues past a record that can no longer be read', async () => {
    const { token, plane, ship } = await aSetting();
    const decision = aDecision({ policy_result: 'deny' });
    plane.append(decision);
    await ship();
    await test.superuser.query(`UPDATE ledger_records SET bytes = '\\xff' WHERE id = $1`, [
      decision.id,
    ]);
    expect((await list(token, '?policy_result=deny')).events).toMatchObject([
      { id: decision.id, readable: false, policy_result: 'deny', tool_name: null },
    ]);
  });

  it('shows nothing of another tenant', async () => {
    const { plane, ship } = await aSetting();
    const decision = aDecision();
    plane.append(decision);
    await ship();
    const stranger = await aTenantAdmin();
    expect((await list(stranger.token, `?agent_id=${decision.agent_id}`)).total).toBe(0);
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=ten',
    'limit=',
    'offset=-1',
    'offset=1000001',
    'agent_id=7',
    'policy_result=maybe',
    'from=yesterday',
    'from=2026-02-30T00:00:00Z',
    'to=2026-01-01',
    `from=${minute(2)}&to=${minute(1)}`,
    'agent_id=%00',
    'limit=1&limit=2',
  ])('refuses ?%s with 422', async (query) => {
    const { token } = await aTenantAdmin();
    const answer = await call(`/api/v1/audit/events?${query}`, { token });
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({ detail: expect.any(String), errors: expect.any(Array) });
  });
});

describe('GET /api/v1/audit/verify', () => {
  it('reports that the chains are intact, and reuses the result unless asked for a fresh one', async () => {
    const { token, plane, ship } = await aSetting();
    plane.append(aDecision());
    await ship();
    await call('/api/v1/roles', { token, body: { name: 'reader' } });
    const answer = await call('/api/v1/audit/verify', { token });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      valid: true,
      verified_at: expect.stringMatching(/^\d{4}-.*Z$/),
      cached: false,
      duration_ms: expect.any(Number),
      records_verified: 5,
      records_quarantined: 0,
      records_unread: 0,
      leaves_verified: expect.any(Number),
      streams: [
        expect.objectContaining({ kind: 'admin', records: 3, epoch: 1, valid: true }),
        {
          stream: plane.deploymentId,
          kind: 'data_plane',
          epoch: 1,
          head: plane.head.head,
          records: 2,
          records_quarantined: 0,
          records_unread: 0,
          valid: true,
        },
      ],
      breaks: [],
      breaks_total: 0,
      breaks_open: 0,
      background: { new: null, full: null, full_running: null },
    });
    expect((await call('/api/v1/audit/verify', { token })).json().cached).toBe(true);
    expect((await call('/api/v1/audit/verify?fresh=true', { token })).json().cached).toBe(false);
    expect((await call('/api/v1/audit/verify?fresh=yes', { token })).statusCode).toBe(422);
  });

  it('is valid for a tenant without activity', async () => {
    const { token } = await aTenantAdmin();
    const answer = (await call('/api/v1/audit/verify', { token })).json();
    expect(answer).toMatchObject({ valid: true, records_verified: 0, breaks: [] });
  });
});

describe('chain breaks', () => {
  async function aBreak() {
    const setting = await aSetting();
    const { token, plane, ship } = setting;
    plane.append(aDecision());
    await ship();
    await test.superuser.query(
      `UPDATE ledger_records SET bytes = set_byte(bytes, 12, 88) WHERE stream = $1 AND seq = 2`,
      [plane.deploymentId],
    );
    const verified = (await call('/api/v1/audit/verify', { token })).json();
    expect(verified).toMatchObject({
      valid: false,
      breaks_total: 1,
      streams: [
        { kind: 'admin', valid: true },
        { kind: 'data_plane', valid: false, first_break: { kind: 'content', epoch: 1, seq: 2 } },
      ],
    });
    return setting;
  }

  it('are listed, and acknowledged once, with the user and the reason', async () => {
    const { token, plane } = await aBreak();
    const listed = (await call('/api/v1/audit/chain/breaks', { token })).json();
    expect(listed).toMatchObject({
      total: 1,
      breaks: [{ stream: plane.deploymentId, kind: 'content', seq: 2, acknowledged_at: null }],
    });
    const [{ id }] = listed.breaks;
    const url = `/api/v1/audit/chain/breaks/${id}/acknowledge`;
    const answer = await call(url, { token, body: { notes: 'a disk was repaired' } });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      id,
      notes: 'a disk was repaired',
      acknowledged_by: expect.stringMatching(/^admin-of-/),
      acknowledged_at: expect.stringMatching(/Z$/),
    });
    // Repeating it without a body changes nothing, and is not recorded again.
    const again = await call(url, { token, method: 'POST' });
    expect(again.json()).toEqual(answer.json());
    const { events } = await list(token);
    const recorded = events.filter((event) => event.action === 'chain_break_acknowledged');
    expect(recorded).toMatchObject([{ target: `chain_break/${id}` }]);
    const count = async (query: string) =>
      (await call(`/api/v1/audit/chain/breaks?acknowledged=${query}`, { token })).json().total;
    expect(await count('true')).toBe(1);
    expect(await count('false')).toBe(0);
  });

  it('of another tenant, or none, are not found', async () => {
    const { token } = await aBreak();
    const [{ id }] = (await call('/api/v1/audit/chain/breaks', { token })).json().breaks;
    const stranger = await aTenantAdmin();
    for (const [who, what] of [
      [stranger.token, id],
      [token, randomUUID()],
      [token, 'nothing'],
    ]) {
      const url = `/api/v1/audit/chain/breaks/${what}/acknowledge`;
      expect((await call(url, { token: who, method: 'POST' })).statusCode).toBe(404);
    }
    expect((await call('/api/v1/audit/chain/breaks', { token: stranger.token })).json().total).toBe(
      0,
    );
  });

  it.each([
    [{ notes: 7 }, 422],
    [{ notes: 'nul\u0000' }, 422],
    [{ notes: 'lone\ud800' }, 400],
    [{ note: 'x' }, 422],
    ['{"notes":', 400],
    ['{"notes":"a","notes":"b"}', 400],
    ['[', 400],
  ])('refuse the body %j', async (body, status) => {
    const { token } = await aTenantAdmin();
    const answer = await call(`/api/v1/audit/chain/breaks/${randomUUID()}/acknowledge`, {
      token,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ detail: expect.any(String) });
  });
});

describe('without a token', () => {
  it.each([
    ['GET', '/api/v1/audit/events'],
    ['GET', '/api/v1/audit/stream'],
    ['GET', '/api/v1/audit/verify'],
    ['GET', '/api/v1/audit/chain/breaks'],
    ['POST', `/api/v1/audit/chain/breaks/${randomUUID()}/acknowledge`],
  ] as const)('%s %s is 401', async (method, url) => {
    expect((await call(url, { method })).statusCode).toBe(401);
    expect((await call(url, { method, token: 'forged' })).statusCode).toBe(401);
  });
});
