/** /api/v1/sessions as administrators see it. */
import { uuidv7 } from '@governance/shared/ids';
import { describe, expect, it } from 'vitest';
import {
  aDataPlane,
  aDecision,
  appendVersion1,
  type TestDataPlane,
} from '../../../tests/support/a-data-plane.ts';
import { anAgent } from '../../../tests/support/an-agent.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const MINUTE = 60_000;
let time = Date.now();
const { call, test, controlPlane, aTenantAdmin, aColleague } = await testControlPlane({
  now: () => new Date(time),
});
type Admin = Awaited<ReturnType<typeof aTenantAdmin>>;

const EVENT_FIELDS = [
  ...['id', 'timestamp', 'action', 'target', 'tool_name', 'mcp_server', 'policy_result'],
  ...['policy_reason', 'behavioral_score', 'dlp_action', 'dlp_findings_count'],
];

async function aPlane({ scope }: Admin) {
  const plane = await aDataPlane(test, scope);
  plane.boot();
  let shipped = 0;
  return {
    plane,
    decide: (minutesAgo: number, over: Parameters<typeof aDecision>[0]) => {
      const timestamp = new Date(time - minutesAgo * MINUTE).toISOString();
      const decision = aDecision({ timestamp, ...over });
      plane.append(decision);
      return decision.id;
    },
    ship: async () => {
      const from = shipped;
      shipped = plane.records.length;
      await controlPlane.ingest.ingestBatch(
        scope.tenantId,
        plane.deploymentId,
        plane.batch(from, shipped),
      );
    },
  } satisfies { plane: TestDataPlane } & Record<string, unknown>;
}

const listed = async ({ token }: Admin, query = '') => {
  const answer = await call(`/api/v1/sessions${query}`, { token });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json() as { sessions: { id: string; [member: string]: unknown }[]; total: number };
};

describe('sessions', () => {
  it('are listed newest first, by status and by agent', async () => {
    const admin = await aTenantAdmin();
    const [first, second] = [await anAgent(test, admin.scope), await anAgent(test, admin.scope)];
    const { decide, ship } = await aPlane(admin);
    decide(100, { agent_id: first.id, requester_id: 'ann' });
    decide(10, { agent_id: first.id, requester_id: 'ann', dlp_findings_count: 1 });
    decide(5, { agent_id: second.id, method: 'tools/list' });
    await ship();
    const { sessions, total } = await listed(admin);
    expect(total).toBe(3);
    expect(sessions).toEqual([
      {
        id: expect.any(String),
        agent_id: second.id,
        agent_name: second.clientId,
        requester_id: null,
        started_at: new Date(time - 5 * MINUTE).toISOString(),
        expires_at: new Date(time + 25 * MINUTE).toISOString(),
        status: 'active',
        tool_call_count: 0,
        dlp_hit_count: 0,
        risk_score_at_close: null,
        last_event_at: new Date(time - 5 * MINUTE).toISOString(),
      },
      expect.objectContaining({ status: 'active', tool_call_count: 1, dlp_hit_count: 1 }),
      expect.objectContaining({ status: 'expired', requester_id: 'ann' }),
    ]);
    const ids = sessions.map(({ id }) => id);
    const idsOf = async (query: string) => (await listed(admin, query)).sessions.map((s) => s.id);
    expect(await idsOf('?status=active')).toEqual(ids.slice(0, 2));
    expect(await idsOf('?status=expired')).toEqual(ids.slice(2));
    expect(await idsOf(`?agent_id=${first.id}`)).toEqual(ids.slice(1));
    expect(await idsOf(`?agent_id=${first.id}&status=active`)).toEqual([ids[1]]);
    expect(await idsOf('?limit=1&offset=1')).toEqual([ids[1]]);
    expect(await listed(admin, '?limit=1')).toMatchObject({ total: 3 });
    // Without the task that closes them: what is over says so at once.
    time += 26 * MINUTE;
    expect(await listed(admin, '?status=active')).toEqual({ sessions: [], total: 0 });
    time -= 26 * MINUTE;
  });

  it('are as idle as the tenant’s settings say', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const change = (body: object) =>
      call('/api/v1/admin/settings', { token, method: 'PATCH', body });
    const changed = await change({ sessions: { idle_minutes: 2 } });
    expect(changed.json().sessions).toEqual({ idle_minutes: 2, cycling_sessions: 5 });
    for (const wrong of [0, 1_441, 1.5, '3', null]) {
      expect((await change({ sessions: { idle_minutes: wrong } })).statusCode).toBe(422);
    }
    const agent = (await anAgent(test, admin.scope)).id;
    const { decide, ship } = await aPlane(admin);
    for (const minutes of [9, 7, 4]) decide(minutes, { agent_id: agent });
    await ship();
    expect((await listed(admin)).total).toBe(2);
  });

  it('are open to every role, and to no other tenant', async () => {
    const admin = await aTenantAdmin();
    const agent = (await anAgent(test, admin.scope)).id;
    const { decide, ship } = await aPlane(admin);
    decide(1, { agent_id: agent });
    await ship();
    const [session] = (await listed(admin)).sessions;
    const events = `/api/v1/sessions/${session?.id}/events`;
    for (const role of ['approver', 'auditor'] as const) {
      const { token } = await aColleague(admin.scope, role);
      expect((await call('/api/v1/sessions', { token })).json().total).toBe(1);
      expect((await call(events, { token })).json().total).toBe(1);
    }
    const other = await aTenantAdmin();
    expect((await listed(other, `?agent_id=${agent}`)).total).toBe(0);
    expect((await call(events, { token: other.token })).statusCode).toBe(404);
    expect((await call('/api/v1/sessions/x/events', { token: admin.token })).statusCode).toBe(404);
    const unknown = `/api/v1/sessions/${uuidv7()}/events`;
    expect((await call(unknown, { token: admin.token })).json()).toEqual({
      detail: 'No such session.',
    });
  });

  it.each([
    '/api/v1/sessions?limit=201',
    '/api/v1/sessions?limit=0',
    '/api/v1/sessions?status=closed',
    '/api/v1/sessions?agent_id=x',
    '/api/v1/sessions?offset=-1',
    `/api/v1/sessions/${uuidv7()}/events?limit=501`,
  ])('refuse %s', async (url) => {
    const { token } = await aTenantAdmin();
    expect((await call(url, { token })).statusCode).toBe(422);
  });
});

describe('events of a session', () => {
  it('are in the order of time, of all data planes, with exactly these fields', async () => {
    const admin = await aTenantAdmin();
    const agent = (await anAgent(test, admin.scope)).id;
    const [one, two] = [await aPlane(admin), await aPlane(admin)];
    const third = one.decide(3, { agent_id: agent, policy_result: 'deny', policy_reason: 'no' });
    const fourth = one.decide(2, { agent_id: agent, dlp_findings_count: 2, dlp_action: 'warned' });
    one.decide(2, { agent_id: agent, requester_id: 'somebody else' });
    const first = two.decide(9, { agent_id: agent });
    // As a data plane of before wrote it.
    const timestamp = new Date(time - 5 * MINUTE).toISOString();
    const second = aDecision({ agent_id: agent, timestamp });
    appendVersion1(two.plane, second);
    await one.ship();
    await two.ship();
    const session = (await listed(admin)).sessions.find((s) => s.requester_id === null);
    const path = `/api/v1/sessions/${session?.id}/events`;
    const read = async (query = '') => {
      const answer = await call(`${path}${query}`, { token: admin.token });
      expect(answer.statusCode, answer.body).toBe(200);
      return answer.json() as { events: { id: string }[]; total: number };
    };
    const { events, total } = await read();
    expect(total).toBe(4);
    expect(events.map(({ id }) => id)).toEqual([first, second.id, third, fourth]);
    for (const event of events) expect(Object.keys(event).sort()).toEqual([...EVENT_FIELDS].sort());
    expect(events[2]).toMatchObject({ policy_result: 'deny', policy_reason: 'no' });
    expect(events[3]).toMatchObject({ dlp_findings_count: 2, dlp_action: 'warned' });
    const page = await read('?limit=2&offset=1');
    expect(page.events.map(({ id }) => id)).toEqual([second.id, third]);
    expect(page.total).toBe(4);
  });

  it('are found under the id of a session that became a part of another', async () => {
    const admin = await aTenantAdmin();
    const agent = (await anAgent(test, admin.scope)).id;
    const { decide, ship } = await aPlane(admin);
    const made = [decide(80, { agent_id: agent }), decide(40, { agent_id: agent })];
    await ship();
    const before = (await listed(admin)).sessions.map(({ id }) => id);
    made.splice(1, 0, decide(60, { agent_id: agent }));
    await ship();
    expect((await listed(admin)).sessions.map(({ id }) => id)).toEqual([before[1]]);
    for (const id of before) {
      const answer = await call(`/api/v1/sessions/${id}/events`, { token: admin.token });
      expect(answer.json().events.map((event: { id: string }) => event.id)).toEqual(made);
      expect(answer.json().total).toBe(3);
    }
  });

  it('that the ledger has no more are left out', async () => {
    const admin = await aTenantAdmin();
    const agent = (await anAgent(test, admin.scope)).id;
    const { decide, ship } = await aPlane(admin);
    const [gone, left] = [decide(2, { agent_id: agent }), decide(1, { agent_id: agent })];
    await ship();
    await test.superuser.query('DELETE FROM ledger_records WHERE id = $1', [gone]);
    const [session] = (await listed(admin)).sessions;
    const answer = await call(`/api/v1/sessions/${session?.id}/events`, { token: admin.token });
    expect(answer.json().events).toMatchObject([{ id: left }]);
    decide(0, { agent_id: agent });
    await ship();
    expect((await listed(admin)).sessions).toMatchObject([{ tool_call_count: 3 }]);
  });
});
