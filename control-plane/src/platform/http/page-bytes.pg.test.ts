import { expect, it } from 'vitest';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';

const { call, aTenantAdmin, test } = await testControlPlane();

it('a page of workflows or delegations that is too large for memory is refused and says what fits, and so are more of them', async () => {
  const { token, scope } = await aTenantAdmin();
  const post = async (url: string, body: object) => {
    const answer = await call(url, { token, method: 'POST', body });
    expect(answer.statusCode, answer.body).toBe(201);
    return answer.json();
  };
  const list = async (url: string) => {
    const { statusCode, json } = await call(url, { token });
    return { statusCode, ...json() };
  };
  const about = { agent_type: 'assistant', owner: 'o@example.com' };
  const agent = await post('/api/v1/agents', { name: 'a', ...about });
  const other = await post('/api/v1/agents', { name: 'b', ...about });
  const workflow = await post('/api/v1/workflows', { name: 'w', owner_agent_id: agent.id });
  const session = await post(`/api/v1/workflows/${workflow.id}/sessions`, {});

  // A request makes one of at most a MiB.
  const participants = JSON.stringify([
    { agent_id: agent.id, role: 'r', allowed_actions: ['x'.repeat(1_000_000)] },
  ]);
  await test.superuser.query(
    `INSERT INTO workflows (tenant_id, id, name, owner_agent_id, max_depth, max_participants,
       participants, created_at)
     SELECT $1, gen_random_uuid(), 'large', $2, 1, 1, $3, now() + interval '1 second'
     FROM generate_series(1, 40)`,
    [scope.tenantId, agent.id, participants],
  );
  expect(await list('/api/v1/workflows')).toMatchObject({
    statusCode: 422,
    detail: 'query.limit: these workflows are too large together: ask for 33 at most',
  });
  const page = await list('/api/v1/workflows?limit=33');
  expect([page.statusCode, page.workflows.length, page.total]).toEqual([200, 33, 41]);
  expect(await list('/api/v1/workflows?offset=39')).toMatchObject({ statusCode: 200, total: 41 });
  expect(await list('/api/v1/workflows?status_filter=suspended')).toMatchObject({ total: 0 });

  await test.superuser.query(
    `INSERT INTO delegations (tenant_id, id, workflow_session_id, delegator_agent_id,
       delegatee_agent_id, delegation_depth, tools, resources, requester, reason, created_at,
       expires_at)
     SELECT $1, gen_random_uuid(), $2, $3, $4, 1, '{}', array_fill(repeat('é', 1000), ARRAY[100]),
       'r', '', now(), now() FROM generate_series(1, 200)`,
    [scope.tenantId, session.id, agent.id, other.id],
  );
  const delegations = `/api/v1/workflows/${workflow.id}/sessions/${session.id}/delegations`;
  expect(await list(delegations)).toMatchObject({
    statusCode: 422,
    detail: 'query.limit: these delegations are too large together: ask for 167 at most',
  });
  expect((await list(`${delegations}?limit=167`)).delegations).toHaveLength(167);

  // Each is a fact at every data plane: there is no room for more.
  const refused = async (url: string, body: object, method: 'POST' | 'PUT' = 'POST') => {
    const { statusCode, json } = await call(url, { token, method, body });
    return [statusCode, json().detail];
  };
  const full = [409, 'The tenant has as many workflows as it may have.'];
  expect(await refused('/api/v1/workflows', { name: 'x', owner_agent_id: agent.id })).toEqual(full);
  const path = `/api/v1/workflows/${workflow.id}`;
  const larger = [{ agent_id: other.id, role: 'r', allowed_actions: ['read'] }];
  expect(await refused(path, { participants: larger }, 'PUT')).toEqual(full);
  expect((await refused(path, { name: 'v' }, 'PUT'))[0]).toBe(200);
  const delegation = {
    workflow_session_id: session.id,
    delegator_agent_id: agent.id,
    delegatee_agent_id: other.id,
    scope: { tools: ['files/read_file'], resources: [] },
    reason: 'r',
  };
  expect(await refused('/api/v1/delegations', delegation)).toEqual([
    409,
    'The tenant has as many active delegations as it may have.',
  ]);
});
