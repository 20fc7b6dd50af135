/** The trace of a session, made of what two data planes ship; one of them says what it may not. */
import { encodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { uuidv7 } from '@governance/shared/ids';
import { expect, it } from 'vitest';
import { aDecision, createWriter } from '../../../tests/support/a-data-plane.ts';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { createBaselineTask } from './baseline-task.ts';

const { call, test, aTenantAdmin } = await testControlPlane();

type Admin = Awaited<ReturnType<typeof aTenantAdmin>>;

async function made(admin: Admin, url: string, body: object): Promise<string> {
  const answer = await call(url, { token: admin.token, body });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json().id;
}

async function aSession(admin: Admin) {
  const agent = (name: string) =>
    made(admin, '/api/v1/agents', { name, agent_type: 't', owner: 'o', description: '' });
  const planner = await agent('planner');
  const reader = await agent('reader');
  const participants = [{ agent_id: reader, role: 'r', allowed_actions: ['*'] }];
  const workflow = { name: 'w', owner_agent_id: planner, participants };
  const id = await made(admin, '/api/v1/workflows', workflow);
  const session = await made(admin, `/api/v1/workflows/${id}/sessions`, {});
  return { planner, reader, session, path: `/api/v1/workflows/${id}/sessions/${session}/trace` };
}

async function aPlane({ token, scope }: Admin) {
  const issued = await call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'x' } });
  const root: string = issued.json().token;
  const keys = aRegistration();
  const body = keys.provenWith(root);
  const answer = await call('/api/v1/data-planes/register', { token: root, body });
  const { deployment_id: deploymentId, token: own } = answer.json();
  const plane = createWriter(scope.tenantId, deploymentId, keys.signingKey);
  plane.boot();
  return {
    decide: (over: Parameters<typeof aDecision>[0]) => {
      const decision = aDecision(over);
      plane.append(decision);
      return decision.id;
    },
    ship: async () => {
      const batch = await call(`/api/v1/data-planes/${deploymentId}/audit-batches`, {
        token: own.token,
        body: encodeBatch(plane.batch(0)),
        headers: { 'content-type': NDJSON },
      });
      expect(batch.statusCode, batch.body).toBe(200);
    },
  };
}

it('joins the events of two data planes, and ignores parents that are none of the session', async () => {
  const admin = await aTenantAdmin();
  const { planner, reader, session, path } = await aSession(admin);
  const [first, second] = [await aPlane(admin), await aPlane(admin)];
  const of = { workflow_session_id: session };
  const at = (ms: number) => new Date(Date.now() - 10_000 + ms).toISOString();
  const root = first.decide({ ...of, agent_id: planner, timestamp: at(0) });
  const below = second.decide({
    ...of,
    agent_id: reader,
    timestamp: at(1),
    causal_depth: 1,
    parent_event_id: root,
  });
  const denied = second.decide({
    ...of,
    agent_id: reader,
    timestamp: at(2),
    causal_depth: 2,
    parent_event_id: below,
    policy_result: 'deny',
  });
  const elsewhere = second.decide({ agent_id: reader, timestamp: at(3) });
  const claimed = second.decide({
    ...of,
    agent_id: reader,
    timestamp: at(4),
    causal_depth: 1,
    parent_event_id: elsewhere,
  });
  // A session that there is not is no reason to refuse a record.
  second.decide({ agent_id: reader, workflow_session_id: uuidv7() });
  // What belongs below something may arrive before it.
  await second.ship();
  await first.ship();

  const trace = await call(path, { token: admin.token });
  expect(trace.statusCode, trace.body).toBe(200);
  expect(trace.json()).toMatchObject({
    session_id: session,
    truncated: false,
    nodes: [
      {
        event_id: root,
        agent_id: planner,
        causal_depth: 0,
        parent_ignored: false,
        children: [{ event_id: below, causal_depth: 1, children: [{ event_id: denied }] }],
      },
      { event_id: claimed, causal_depth: 0, parent_event_id: null, parent_ignored: true },
    ],
    agent_summaries: {
      [planner]: { event_count: 1, results: { allow: 1 } },
      [reader]: { event_count: 3, results: { allow: 2, deny: 1 }, max_causal_depth: 2 },
    },
  });
  const file = await call(`${path}/export`, { token: admin.token });
  expect(file.headers['content-disposition']).toBe(`attachment; filename="trace-${session}.json"`);
  expect(file.json()).toEqual(trace.json());
});

it('has nothing of a session that another tenant’s data plane names', async () => {
  const [mine, theirs] = [await aTenantAdmin(), await aTenantAdmin()];
  const { planner } = await aSession(mine);
  const { session, path } = await aSession(theirs);
  const plane = await aPlane(mine);
  plane.decide({ workflow_session_id: session, agent_id: planner });
  await plane.ship();
  expect((await call(path, { token: theirs.token })).json()).toMatchObject({ nodes: [] });
});

it('names no agent that the tenant never had, and no time ahead of the receipt', async () => {
  const [admin, other] = [await aTenantAdmin(), await aTenantAdmin()];
  const { planner, session, path } = await aSession(admin);
  const { planner: foreign } = await aSession(other);
  const plane = await aPlane(admin);
  const of = { workflow_session_id: session };
  const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
  const future = plane.decide({ ...of, agent_id: planner, timestamp: ahead(3_650 * 86_400_000) });
  const tolerated = ahead(4 * 60_000);
  const fine = plane.decide({ ...of, agent_id: planner, timestamp: tolerated });
  plane.decide({ ...of, agent_id: foreign });
  plane.decide({ ...of, agent_id: uuidv7() });
  await plane.ship();

  const { nodes, agent_summaries } = (await call(path, { token: admin.token })).json();
  expect(nodes).toMatchObject([
    { event_id: future, agent_id: planner },
    { event_id: fine, timestamp: tolerated },
  ]);
  expect(Date.parse(nodes[0].timestamp)).toBeLessThanOrEqual(Date.now());
  expect(Object.keys(agent_summaries)).toEqual([planner]);
});

it('compares completed sessions with what is usual, and tells of one that is not', async () => {
  const admin = await aTenantAdmin();
  const { planner, session, path } = await aSession(admin);
  const workflow = path.split('/')[4] ?? '';
  const { tenantId } = admin.scope;
  const sessions = [session];
  for (let i = 0; i < 5; i++) {
    sessions.push(await made(admin, `/api/v1/workflows/${workflow}/sessions`, {}));
  }
  for (const [index, id] of sessions.entries()) {
    const isLast = index === sessions.length - 1;
    await test.superuser.query(
      `INSERT INTO workflow_events (tenant_id, session_id, event_id, event_time, agent_id, action,
         tool_name, mcp_server, policy_result)
       SELECT $1, $2, gen_random_uuid(), now(), $3, 'read', $4, 'files', 'allow'
       FROM generate_series(1, 6)`,
      [tenantId, id, planner, isLast ? 'delete_file' : 'read_file'],
    );
    const url = `/api/v1/workflows/${workflow}/sessions/${id}/complete`;
    expect((await call(url, { method: 'POST', token: admin.token })).statusCode).toBe(200);
  }
  const alerts = async () => {
    const url = '/api/v1/monitor/alerts';
    return (await call(url, { token: admin.token })).json().alerts as { alert_type: string }[];
  };
  const run = (now: number) =>
    createBaselineTask({ db: test.db, now: () => new Date(now) }).run(new AbortController().signal);
  // Their records may still be on their way.
  await run(Date.now());
  expect(await alerts()).toEqual([]);
  await run(Date.now() + 61_000);
  await run(Date.now() + 61_000);
  expect(await alerts()).toMatchObject([
    {
      alert_type: 'WORKFLOW_TOOL_DISTRIBUTION_ANOMALY',
      details: { workflow_id: workflow, workflow_session_id: sessions.at(-1), divergence: 1 },
    },
  ]);
});

it('shows 10,000 events, and says that there are more', async () => {
  const admin = await aTenantAdmin();
  const { planner, session, path } = await aSession(admin);
  await test.superuser.query(
    `INSERT INTO workflow_events (tenant_id, session_id, event_id, event_time, agent_id, action,
       tool_name, mcp_server, policy_result, parent_event_id)
     SELECT $1, $2, md5(n::text)::uuid, now() + n * interval '1 ms', $3, 'read', 'read_file', 'files',
       'allow', CASE WHEN n % 100 = 0 THEN NULL ELSE md5((n - 1)::text)::uuid END
     FROM generate_series(0, 10000) n`,
    [admin.scope.tenantId, session, planner],
  );
  const trace = (await call(path, { token: admin.token })).json();
  expect(trace.truncated).toBe(true);
  expect(trace.nodes).toHaveLength(100);
  expect(trace.agent_summaries[planner]).toMatchObject({
    event_count: 10_000,
    max_causal_depth: 99,
  });
});
