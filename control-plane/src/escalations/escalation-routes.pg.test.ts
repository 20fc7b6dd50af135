/** Calls that wait for a person: how their rows are made, shown and left, once. */
import { randomBytes } from 'node:crypto';
import { type PayloadContent, payloadDigest } from '@governance/shared/evidence/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import { describe, expect, it, vi } from 'vitest';
import {
  AGENT_ID,
  aDataPlane,
  aDecision,
  aHoldOpened,
} from '../../../tests/support/a-data-plane.ts';
import { sealPayload } from '../../../tests/support/a-payload.ts';
import { fillEscalations } from '../../../tests/support/fill-escalations.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { MAX_PENDING_OF_STREAM } from '../ingest/second-holds.ts';
import { createHoldView } from '../testing/test-escalations.ts';
import { createEscalationService } from './escalation-service.ts';

const service = await testControlPlane();
const { call, controlPlane, test, aTenantAdmin, aColleague } = service;
const LIST = '/api/v1/escalations';

interface Opening {
  /** Before now, when it was opened. */
  agoMs?: number;
  /** From then, when the time is over. */
  lastsMs?: number;
  tier?: 'low' | 'medium' | 'high' | 'critical';
  /** What an exception would name. */
  shape?: { policy_ids: string[]; resource: string } | null;
  /** What is kept of the call, and how. */
  kept?: { mode: PayloadContent['mode']; text: string };
}

/** A tenant with a data plane that can hold calls. */
async function aTenantWithPlane() {
  const { token, scope } = await aTenantAdmin();
  const { tenantId } = scope;
  const plane = await aDataPlane(test, scope);
  plane.boot();
  const view = createHoldView(service, { token, tenantId, plane }, 'escalation_');
  const ship = async () => {
    await view.ship();
    for (const content of payloads.splice(0)) {
      const sealed = await sealPayload(controlPlane, content);
      await controlPlane.payloadIngest.ingest(tenantId, plane.deploymentId, { payloads: [sealed] });
    }
  };
  const payloads: PayloadContent[] = [];
  const open = ({ agoMs = 0, lastsMs = 60_000, tier = 'high', kept, shape }: Opening = {}) => {
    const salt = randomBytes(16);
    const decision = aDecision({
      timestamp: new Date(Date.now() - agoMs).toISOString(),
      policy_result: 'escalate',
      tool_name: 'delete_thing',
      payload_digest: kept ? payloadDigest(salt, kept.text) : null,
    });
    const id = uuidv7();
    if (kept) {
      payloads.push({
        ...kept,
        tenant_id: tenantId,
        deployment_id: plane.deploymentId,
        event_id: decision.id,
        part: 'input',
        salt: salt.toString('base64url'),
      });
    }
    plane.append({ ...decision, escalation_id: id });
    const timeout_at = new Date(Date.parse(decision.timestamp) + lastsMs).toISOString();
    const hold = { escalation_id: id, risk_tier: tier, timeout_at, ...(shape && { shape }) };
    plane.append(aHoldOpened(decision, hold));
    return id;
  };
  const held = async (opening?: Opening) => {
    const id = open(opening);
    await ship();
    return id;
  };
  const addServer = async () => {
    const body = { server_id: 'files', transport: 'streamable-http', url: 'https://mcp.example/' };
    expect((await call('/api/v1/mcp-servers', { token, body })).statusCode).toBe(201);
  };
  const addPolicy = async (): Promise<string> => {
    const body = { name: 'Careful', rego_content: 'package p\n\nescalate := true\n' };
    return (await call('/api/v1/policies', { token, body })).json().id;
  };
  const list = async (query = '') => (await call(`${LIST}${query}`, { token })).json();
  const show = async (id: string) => (await call(`${LIST}/${id}`, { token })).json();
  const decide = (id: string, what: 'approve' | 'deny', body?: object) =>
    call(`${LIST}/${id}/${what}`, { token, method: 'POST', ...(body && { body }) });
  return {
    ...view,
    ...{ token, scope, tenantId, plane, open, ship, held, list, show, decide },
    ...{ addServer, addPolicy },
  };
}

const OF_REACH = { policy_ids: ['blast_radius'], resource: '/srv/data' };

describe('GET /api/v1/escalations', () => {
  it('lists what data planes hold, newest first, by status', async () => {
    const one = await aTenantWithPlane();
    const first = one.open({ agoMs: 1_000 });
    const second = await one.held();
    const { escalations, total } = await one.list();
    expect(total).toBe(2);
    expect(escalations.map(({ id }: { id: string }) => id)).toEqual([second, first]);
    expect(escalations[0]).toMatchObject({
      status: 'pending',
      agent_id: AGENT_ID,
      tool_name: 'delete_thing',
      mcp_server: 'files',
      target: '/srv/data',
      reason: 'Baseline: destructive',
      deployment_id: one.plane.deploymentId,
      resolved_at: null,
      grant: null,
    });
    expect(await one.list('?limit=1&offset=1')).toMatchObject({
      total: 2,
      escalations: [{ id: first }],
    });
    await one.decide(first, 'deny');
    expect(await one.list('?status=denied')).toMatchObject({
      total: 1,
      escalations: [{ id: first }],
    });
    const stranger = await aTenantAdmin();
    expect((await call(LIST, { token: stranger.token })).json().total).toBe(0);
  });

  it.each(['status=open', 'limit=0', 'limit=201', 'offset=x'])('refuses ?%s', async (query) => {
    const { token } = await aTenantAdmin();
    expect((await call(`${LIST}?${query}`, { token })).statusCode).toBe(422);
  });
});

describe('a decision', () => {
  it('approves once: a grant for the data plane, one record, and no alert any more', async () => {
    const one = await aTenantWithPlane();
    const id = await one.held({ tier: 'critical' });
    const alerts = async () =>
      (await call('/api/v1/monitor/alerts', { token: one.token })).json().alerts;
    expect(await alerts()).toMatchObject([
      { alert_type: 'ESCALATION_OPENED', severity: 'critical', status: 'open', agent_id: AGENT_ID },
    ]);
    const answer = await one.decide(id, 'approve', { notes: 'agreed by phone' });
    expect(answer.statusCode, answer.body).toBe(200);
    const approved = answer.json();
    expect(approved).toMatchObject({
      status: 'approved',
      notes: 'agreed by phone',
      resolved_by: expect.any(String),
      grant: { id: expect.any(String) },
    });
    const lasts = Date.parse(approved.grant.expires_at) - Date.parse(approved.resolved_at);
    expect(lasts).toBe(600_000);
    expect(await one.fact(id)).toEqual({
      escalation_id: id,
      deployment_id: one.plane.deploymentId,
      resolution: 'approved',
      resolved_at: approved.resolved_at,
      grant: approved.grant,
    });
    expect(await alerts()).toMatchObject([{ status: 'resolved' }]);
    for (const what of ['approve', 'deny'] as const) {
      const again = await one.decide(id, what);
      expect(again.statusCode).toBe(409);
      expect(again.json().detail).toContain('approved');
    }
    expect(await one.actions()).toEqual([`escalation_approved escalation/${id}`]);
  });

  it('shows the event that used an approval', async () => {
    const one = await aTenantWithPlane();
    const id = await one.held();
    const { grant } = (await one.decide(id, 'approve')).json();
    expect(await one.show(id)).toMatchObject({ used_by_event: null });
    const decision = aDecision({ tool_name: 'delete_thing', grant_id: grant.id });
    one.plane.append(aDecision());
    one.plane.append(decision);
    await one.ship();
    expect(await one.show(id)).toMatchObject({ used_by_event: decision.id });
  });

  it('denies, with or without notes', async () => {
    const one = await aTenantWithPlane();
    const id = await one.held();
    expect((await one.decide(id, 'deny')).json()).toMatchObject({
      status: 'denied',
      notes: null,
      grant: null,
    });
    expect(await one.fact(id)).toMatchObject({ resolution: 'denied', grant: null });
  });

  it('makes an exception of the call’s shape with it, and names it', async () => {
    const one = await aTenantWithPlane();
    await one.addServer();
    const policyId = await one.addPolicy();
    const notes = 'the clean-up is meant to';
    const allow = (id: string) => one.decide(id, 'approve', { notes, create_exception: true });
    const ofOne = await one.held({ shape: { policy_ids: [policyId], resource: '/srv/data' } });
    const answer = await allow(ofOne);
    expect(answer.statusCode, answer.body).toBe(200);
    const approved = answer.json();
    expect(approved).toMatchObject({ status: 'approved', exception_id: expect.any(String) });
    const exception = (
      await call(`/api/v1/exceptions/${approved.exception_id}`, { token: one.token })
    ).json();
    expect(exception).toMatchObject({
      ...{ status: 'active', lifts: 'escalation', agent_id: AGENT_ID, mcp_server: 'files' },
      ...{ tool_name: 'delete_thing', resource: '/srv/data', policy_id: policyId },
      ...{ justification: notes, escalation_id: ofOne, max_extensions: 4 },
    });
    const lasts = Date.parse(exception.expires_at) - Date.parse(exception.created_at);
    expect(lasts).toBe(24 * 3_600_000);
    expect(await one.show(ofOne)).toMatchObject({ exception_id: exception.id });
    // Where several asked, each has its own: nothing is lifted that nobody was asked about.
    const shape = { policy_ids: [policyId, 'blast_radius'], resource: '' };
    const severalId = await one.held({ shape });
    const ofSeveral = (await allow(severalId)).json();
    const { exceptions } = (await call('/api/v1/exceptions', { token: one.token })).json();
    const made = exceptions.filter(
      ({ escalation_id }: { escalation_id: string }) => escalation_id === severalId,
    );
    expect(made.map(({ policy_id }: { policy_id: string }) => policy_id).sort()).toEqual(
      [policyId, 'blast_radius'].sort(),
    );
    expect(made).toContainEqual(
      expect.objectContaining({
        ...{ id: ofSeveral.exception_id, resource: '', tool_name: 'delete_thing' },
        policy_id: policyId,
      }),
    );
    const ofReach = { policy_ids: ['blast_radius'], resource: '/srv/data' };
    expect((await allow(await one.held({ shape: ofReach }))).statusCode).toBe(200);
  });

  it.each<[string, number, Opening['shape']]>([
    ['whose shape is unknown', 409, null],
    ['whose resource is a pattern', 409, { policy_ids: ['blast_radius'], resource: '/srv/**' }],
    ['whose resource cannot be read', 409, { policy_ids: ['blast_radius'], resource: '/srv/../a' }],
    ['whose policies are unknown', 409, { policy_ids: [], resource: '/srv' }],
    ['whose policy is no id', 409, { policy_ids: ['Careful'], resource: '/srv' }],
    ['of a policy that is not there', 404, { policy_ids: [uuidv7()], resource: '/srv' }],
  ])('decides nothing where an exception is asked for a call %s', async (_, status, shape) => {
    const one = await aTenantWithPlane();
    await one.addServer();
    const id = await one.held({ shape });
    const body = { notes: 'the clean-up is meant to', create_exception: true };
    const answer = await one.decide(id, 'approve', body);
    expect(answer.statusCode, answer.body).toBe(status);
    expect(await one.show(id)).toMatchObject({ status: 'pending', exception_id: null });
    const { total } = (await call('/api/v1/exceptions', { token: one.token })).json();
    expect(total).toBe(0);
    expect((await one.decide(id, 'approve', { ...body, create_exception: false })).statusCode).toBe(
      200,
    );
  });

  it.each([
    ['was there before', null],
    ['comes late', OF_REACH],
  ])('makes no exception for another server of the same id by one that %s', async (when, shape) => {
    const one = await aTenantWithPlane();
    await one.addServer();
    const id = one.open({ shape: OF_REACH });
    if (when === 'was there before') await one.ship();
    // Its server is younger by more than the clocks' last digit.
    await new Promise((resolve) => setTimeout(resolve, 20));
    const url = '/api/v1/mcp-servers/files';
    expect((await call(url, { token: one.token, method: 'DELETE' })).statusCode).toBe(204);
    await one.addServer();
    if (when === 'comes late') await one.ship();
    expect((await one.show(id)).shape).toEqual(shape);
    const body = { notes: 'the clean-up is meant to', create_exception: true };
    const answer = await one.decide(id, 'approve', body);
    expect(answer.statusCode, answer.body).toBe(409);
    expect(await one.show(id)).toMatchObject({ status: 'pending', exception_id: null });
    expect((await call('/api/v1/exceptions', { token: one.token })).json().total).toBe(0);
    // A call to the new server may have one.
    const later = await one.held({ shape: OF_REACH });
    expect((await one.decide(later, 'approve', body)).statusCode).toBe(200);
    expect((await one.decide(id, 'deny')).statusCode).toBe(200);
  });

  it('makes an exception for an administrator alone, who says why', async () => {
    const one = await aTenantWithPlane();
    await one.addServer();
    const id = await one.held({ shape: { policy_ids: ['blast_radius'], resource: '/srv/data' } });
    const approver = await aColleague(one.scope, 'approver');
    const body = { notes: 'the clean-up is meant to', create_exception: true };
    const byApprover = await call(`${LIST}/${id}/approve`, { token: approver.token, body });
    expect(byApprover.statusCode, byApprover.body).toBe(403);
    expect(byApprover.json().detail).toBe(
      'The role approver may not do that: an exception is for admin; without create_exception the call can be approved.',
    );
    for (const notes of [undefined, 'fine', ' '.repeat(20)]) {
      const answer = await one.decide(id, 'approve', { ...body, notes });
      expect(answer.statusCode, answer.body).toBe(422);
    }
    expect((await one.show(id)).status).toBe('pending');
    expect((await one.decide(id, 'approve', body)).statusCode).toBe(200);
  });

  it('is refused to a user who lost the role while the request waited', async () => {
    const one = await aTenantWithPlane();
    const id = await one.held();
    const approver = await aColleague(one.scope, 'approver');
    const lock = await test.superuser.connect();
    await lock.query('BEGIN');
    await lock.query('SELECT 1 FROM escalations WHERE id = $1 FOR UPDATE', [id]);
    const approval = call(`${LIST}/${id}/approve`, { token: approver.token, body: {} });
    await expect
      .poll(async () => {
        const { rows } = await test.superuser.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
             AND wait_event_type = 'Lock'`,
        );
        return rows.length;
      })
      .toBeGreaterThan(0);
    await lock.query(`UPDATE administrators SET role = 'auditor' WHERE id = $1`, [
      approver.scope.actor.id,
    ]);
    await lock.query('COMMIT');
    lock.release();
    expect((await approval).statusCode).toBe(401);
    expect((await one.show(id)).status).toBe('pending');
  });

  it('comes too late after the time-out, whoever looks first', async () => {
    const one = await aTenantWithPlane();
    const id = await one.held({ lastsMs: 0 });
    const answer = await one.decide(id, 'approve');
    expect(answer.statusCode).toBe(409);
    expect(answer.json().detail).toContain('timed_out');
    await vi.waitFor(async () => expect((await one.show(id)).status).toBe('timed_out'), 10_000);
    expect(await one.fact(id)).toMatchObject({ resolution: 'timed_out', grant: null });
    expect(await one.actions()).toEqual([`escalation_timed_out escalation/${id}`]);
  });

  it('is no approval by a clock that is ahead: the call would have come before it', async () => {
    const one = await aTenantWithPlane();
    const id = await one.held();
    const now = () => new Date(Date.now() + 6 * 60_000);
    const ahead = createEscalationService({ ...controlPlane, now });
    const decide = (status: 'approved' | 'denied') =>
      ahead.decide(one.scope, id, { status, notes: null });
    await expect(decide('approved')).rejects.toThrow('ahead of its database');
    expect(await one.show(id)).toMatchObject({ status: 'pending' });
    expect(await decide('denied')).toMatchObject({ status: 'denied' });
  });

  it('is taken once, however many people decide at the same time', async () => {
    const one = await aTenantWithPlane();
    const id = await one.held();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => one.decide(id, n % 2 ? 'approve' : 'deny')),
    );
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([
      200,
      ...Array(7).fill(409),
    ]);
    const won = answers.find(({ statusCode }) => statusCode === 200)?.json().status;
    expect((await one.fact(id)) as object).toMatchObject({ resolution: won });
    expect(await one.actions()).toEqual([`escalation_${won} escalation/${id}`]);
  });

  it('is withdrawn from the feed when nobody needs it any more', async () => {
    const one = await aTenantWithPlane();
    const id = await one.held();
    await one.decide(id, 'deny');
    await test.superuser.query(
      `UPDATE escalations SET resolved_at = now() - interval '2 hours' WHERE id = $1`,
      [id],
    );
    await vi.waitFor(async () => expect(await one.fact(id)).toBeNull(), 10_000);
    expect((await one.show(id)).status).toBe('denied');
  });

  it.each([
    ['notes that are no text', { notes: 7 }],
    ['notes that are too long', { notes: 'x'.repeat(2_001) }],
    ['a text for a yes', { create_exception: 'yes' }],
    ['what it does not know', { reason: 'x' }],
    ['a list', []],
  ])('refuses %s', async (_what, body) => {
    const one = await aTenantWithPlane();
    const id = await one.held();
    expect((await one.decide(id, 'approve', body)).statusCode).toBe(422);
    expect((await one.show(id)).status).toBe('pending');
  });

  it('answers 404 for another tenant’s, and for none', async () => {
    const one = await aTenantWithPlane();
    const { token } = await aTenantAdmin();
    for (const id of [await one.held(), uuidv7()]) {
      expect((await call(`${LIST}/${id}`, { token })).statusCode).toBe(404);
      for (const what of ['approve', 'deny']) {
        const answer = await call(`${LIST}/${id}/${what}`, { token, method: 'POST' });
        expect(answer.statusCode).toBe(404);
      }
    }
  });
});

describe('what a person sees', () => {
  it('is who calls, what it did before, and that arguments are withheld', async () => {
    const one = await aTenantWithPlane();
    const timestamp = new Date(Date.now() - 60_000).toISOString();
    one.plane.append(aDecision({ tool_name: 'read_file', timestamp }));
    const detail = await one.show(await one.held());
    expect(detail).toMatchObject({
      agent: { id: AGENT_ID, name: 'gone' },
      arguments: null,
      arguments_withheld: 'not_kept',
      recent_events: expect.arrayContaining([
        expect.objectContaining({ tool_name: 'read_file', policy_result: 'allow' }),
      ]),
    });
  });

  it.each([
    ['full', null, { path: '/srv' }],
    ['encrypted', 'encrypted', null],
  ] as const)('is the arguments as they are kept: %s', async (mode, withheld, shown) => {
    const one = await aTenantWithPlane();
    const text = JSON.stringify({ request: { parameters: { path: '/srv' } } });
    const detail = await one.show(await one.held({ kept: { mode, text } }));
    expect(detail).toMatchObject({ arguments: shown, arguments_withheld: withheld });
    const { token } = await aColleague(one.scope, 'auditor');
    const read = (await call(`${LIST}/${detail.id}`, { token })).json();
    expect(read).toMatchObject({ arguments: null, arguments_withheld: 'role' });
  });

  it('is told that identifiers in it are hashed', async () => {
    const one = await aTenantWithPlane();
    const body = { payload_mode: 'full' };
    const path = '/api/v1/admin/data-protection';
    expect((await call(path, { token: one.token, method: 'PATCH', body })).statusCode).toBe(200);
    // Past the route, which would seal a key for the data plane: this one has none.
    await test.superuser.query(
      'UPDATE data_protection_policies SET hash_identifiers = true WHERE tenant_id = $1',
      [one.tenantId],
    );
    const text = JSON.stringify({ request: { parameters: { to: 'hid1:a:b' } } });
    const detail = await one.show(await one.held({ kept: { mode: 'full', text } }));
    expect(detail).toMatchObject({
      arguments: { to: 'hid1:a:b' },
      arguments_withheld: 'redacted',
    });
  });

  it('is never what another data plane keeps under the same event id', async () => {
    const one = await aTenantWithPlane();
    const textOf = (path: string) => JSON.stringify({ request: { parameters: { path } } });
    const id = one.open({ kept: { mode: 'full', text: textOf('/srv') } });
    const [held] = one.plane.records.slice(-2).map(({ bytes }) => JSON.parse(`${bytes}`));
    const liar = await aDataPlane(test, one.scope);
    liar.boot();
    const salt = randomBytes(16);
    const text = textOf('/harmless');
    liar.append(aDecision({ id: held.id, payload_digest: payloadDigest(salt, text) }));
    await controlPlane.ingest.ingestBatch(one.tenantId, liar.deploymentId, liar.batch(0));
    const sealed = await sealPayload(controlPlane, {
      ...{ tenant_id: one.tenantId, deployment_id: liar.deploymentId, event_id: held.id },
      ...{ part: 'input', mode: 'full', salt: salt.toString('base64url'), text },
    });
    const { results } = await controlPlane.payloadIngest.ingest(one.tenantId, liar.deploymentId, {
      payloads: [sealed],
    });
    expect(results).toEqual(['stored']);
    await one.ship();
    expect((await one.show(id)).arguments).toEqual({ path: '/srv' });
  });
});

it('appears on the stream of events with its records', async () => {
  const one = await aTenantWithPlane();
  const id = await one.held();
  const text = await one.streamed();
  expect(text).toContain(id);
});

it('bounds what one data plane has waiting, and says so', async () => {
  const one = await aTenantWithPlane();
  const { tenantId, plane } = one;
  const { deploymentId } = plane;
  await fillEscalations(test, { tenantId, deploymentId }, MAX_PENDING_OF_STREAM);
  await one.held();
  expect((await one.list()).total).toBe(MAX_PENDING_OF_STREAM);
  const { alerts } = (await call('/api/v1/monitor/alerts', { token: one.token })).json();
  expect(alerts).toMatchObject([{ alert_type: 'DATA_PLANE_ESCALATION_FLOOD' }]);
});
