import { randomUUID } from 'node:crypto';
import type { Severity } from '@governance/shared/ledger/ledger-record';
import { describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { raiseAlert } from './raise-alert.ts';

const { call, controlPlane, aTenantAdmin } = await testControlPlane();

async function raise(
  scope: TenantScope,
  severity: Severity = 'high',
  dedupeKey: string | null = null,
  agentId: string | null = null,
): Promise<string | undefined> {
  return controlPlane.db.inTenant(scope, (tx) =>
    raiseAlert(tx, {
      alertType: 'DISK_WATERMARK',
      severity,
      agentId,
      title: 'The disk is filling up',
      details: { used: 0.83 },
      dedupeKey,
      now: new Date(),
    }),
  );
}

const list = async (token: string, query = '') => {
  const answer = await call(`/api/v1/monitor/alerts${query}`, { token });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
};

describe('GET /api/v1/monitor/alerts', () => {
  it('lists alerts newest first, by status, severity and agent', async () => {
    const { scope, token } = await aTenantAdmin();
    const agent = randomUUID();
    const low = await raise(scope, 'low');
    const high = await raise(scope, 'high', null, agent);
    const { alerts, total } = await list(token);
    expect(total).toBe(2);
    expect(alerts[0]).toEqual({
      id: high,
      alert_type: 'DISK_WATERMARK',
      severity: 'high',
      status: 'open',
      agent_id: agent,
      title: 'The disk is filling up',
      details: { used: 0.83 },
      resolved_by: null,
      resolved_at: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect((await list(token, '?severity=low')).alerts).toMatchObject([{ id: low }]);
    expect((await list(token, `?agent_id=${agent}`)).alerts).toMatchObject([{ id: high }]);
    expect((await list(token, '?status=resolved')).total).toBe(0);
    expect(await list(token, '?limit=1&offset=1')).toMatchObject({
      total: 2,
      alerts: [{ id: low }],
    });
    const stranger = await aTenantAdmin();
    expect((await list(stranger.token)).total).toBe(0);
  });

  it.each([
    'status=closed',
    'severity=huge',
    'agent_id=7',
    'limit=0',
    'offset=x',
  ])('refuses ?%s with 422', async (query) => {
    const { token } = await aTenantAdmin();
    expect((await call(`/api/v1/monitor/alerts?${query}`, { token })).statusCode).toBe(422);
  });
});

describe('PATCH /api/v1/monitor/alerts/{id}', () => {
  it('acknowledges, resolves and reopens, and records each', async () => {
    const { scope, token } = await aTenantAdmin();
    const id = await raise(scope);
    const patch = async (body: object) =>
      (await call(`/api/v1/monitor/alerts/${id}`, { method: 'PATCH', token, body })).json();
    expect(await patch({ status: 'acknowledged' })).toMatchObject({
      status: 'acknowledged',
      resolved_by: null,
    });
    expect(await patch({ status: 'resolved', resolved_by: 'bob' })).toMatchObject({
      status: 'resolved',
      resolved_by: 'bob',
      resolved_at: expect.stringMatching(/Z$/),
    });
    expect(await patch({ status: 'resolved' })).toMatchObject({ resolved_by: 'bob' });
    expect(await patch({ status: 'open' })).toMatchObject({ resolved_by: null, resolved_at: null });
    expect(await patch({ status: 'resolved' })).toMatchObject({
      resolved_by: scope.actor.username,
    });
    const { events } = (await call('/api/v1/audit/events', { token })).json();
    expect(events.map((event: { action: string }) => event.action)).toEqual([
      'alert_resolved',
      'alert_reopened',
      'alert_resolved',
      'alert_acknowledged',
      'alert_raised',
    ]);
  });

  it('lets the same thing raise a new alert once it was resolved', async () => {
    const { scope, token } = await aTenantAdmin();
    const id = await raise(scope, 'high', 'disk');
    expect(await raise(scope, 'high', 'disk')).toBeUndefined();
    const url = `/api/v1/monitor/alerts/${id}`;
    await call(url, { method: 'PATCH', token, body: { status: 'acknowledged' } });
    expect(await raise(scope, 'high', 'disk')).toBeUndefined();
    await call(url, { method: 'PATCH', token, body: { status: 'resolved' } });
    expect(await raise(scope, 'high', 'disk')).toEqual(expect.any(String));
    expect((await list(token)).total).toBe(2);
  });

  it('reopens an alert with its cause, unless that has raised another one', async () => {
    const { scope, token } = await aTenantAdmin();
    const patch = (id: string | undefined, status: string) =>
      call(`/api/v1/monitor/alerts/${id}`, { method: 'PATCH', token, body: { status } });
    const first = await raise(scope, 'high', 'disk');
    await patch(first, 'resolved');
    expect((await patch(first, 'open')).statusCode).toBe(200);
    expect(await raise(scope, 'high', 'disk')).toBeUndefined();
    await patch(first, 'resolved');
    const second = await raise(scope, 'high', 'disk');
    const answer = await patch(first, 'acknowledged');
    expect(answer.statusCode).toBe(409);
    expect(answer.json().detail).toMatch(/another/);
    await patch(second, 'resolved');
    expect((await patch(first, 'open')).json()).toMatchObject({ id: first, status: 'open' });
  });

  it('takes resolved_by with any status, and keeps it of a resolved alert only', async () => {
    const { scope, token } = await aTenantAdmin();
    const id = await raise(scope);
    const patch = async (body: object) =>
      (await call(`/api/v1/monitor/alerts/${id}`, { method: 'PATCH', token, body })).json();
    const open = { status: 'open', resolved_by: null };
    expect(await patch({ resolved_by: 'bob' })).toMatchObject(open);
    expect(await patch({ status: 'acknowledged', resolved_by: 'bob' })).toMatchObject({
      ...open,
      status: 'acknowledged',
    });
    await patch({ status: 'resolved' });
    expect(await patch({ resolved_by: 'bob' })).toMatchObject({ resolved_by: 'bob' });
    expect(await patch({ status: 'open', resolved_by: 'bob' })).toMatchObject(open);
  });

  it('answers 404 for another tenant’s alert and for none', async () => {
    const { scope } = await aTenantAdmin();
    const id = await raise(scope);
    const { token } = await aTenantAdmin();
    for (const what of [id, randomUUID(), 'nothing']) {
      const answer = await call(`/api/v1/monitor/alerts/${what}`, {
        method: 'PATCH',
        token,
        body: { status: 'resolved' },
      });
      expect(answer.statusCode).toBe(404);
    }
  });

  it.each([
    {},
    { status: 'closed' },
    { status: 'resolved', resolved_by: '' },
    { status: 'resolved', resolved_by: 'nul\u0000' },
    { status: 'resolved', severity: 'low' },
    [],
    null,
  ])('refuses %j with 422', async (body) => {
    const { scope, token } = await aTenantAdmin();
    const id = await raise(scope);
    const answer = await call(`/api/v1/monitor/alerts/${id}`, {
      method: 'PATCH',
      token,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.statusCode, answer.body).toBe(422);
  });

  it('needs a token', async () => {
    for (const method of ['GET', 'PATCH'] as const) {
      const url = `/api/v1/monitor/alerts${method === 'PATCH' ? `/${randomUUID()}` : ''}`;
      expect((await call(url, { method })).statusCode).toBe(401);
    }
  });
});
