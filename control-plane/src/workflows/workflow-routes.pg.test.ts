/** Workflows, sessions, delegations and traces over the API, with what they tell data planes. */
import {
  DelegationFact,
  WorkflowFact,
  WorkflowSessionFact,
} from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { createSessionExpiry } from './session-service.ts';

let time = Date.parse('2026-11-23T10:00:00.000Z');
const { call, test, aTenantAdmin, aColleague } = await testControlPlane({
  now: () => new Date(time),
});
const admin = await aTenantAdmin();
const { scope } = admin;
let { token } = admin;
const other = await aTenantAdmin();

async function ask<T = Record<string, unknown>>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  body?: object,
  status?: number,
): Promise<T> {
  const answer = await call(url, { method, token, ...(body && { body }) });
  const expected = status ?? (answer.statusCode < 300 ? answer.statusCode : 200);
  expect(answer.statusCode, `${url}: ${answer.body}`).toBe(expected);
  return answer.body === '' ? (undefined as T) : answer.json();
}

async function anAgent(permissions: string[], resource_scopes: string[] = []): Promise<string> {
  const name = uuidv7();
  const body = { name, agent_type: 't', owner: 'o', description: '' };
  const { id } = await ask<{ id: string }>('POST', '/api/v1/agents', body);
  const role = { name, description: '', permissions, resource_scopes };
  const { id: role_id } = await ask<{ id: string }>('POST', '/api/v1/roles', role);
  await ask('POST', `/api/v1/agents/${id}/roles`, { role_id });
  return id;
}

async function newestFact(kind: string, key: string): Promise<unknown> {
  const { rows } = await test.superuser.query<{ value: string | null }>(
    `SELECT value FROM feed_entries WHERE tenant_id = $1 AND kind = $2 AND key = $3
     ORDER BY seq DESC LIMIT 1`,
    [scope.tenantId, kind, key],
  );
  const [row] = rows;
  return row === undefined ? undefined : row.value === null ? null : JSON.parse(row.value);
}

const owner = await anAgent(['files:*']);
const worker = await anAgent(['files:read']);

async function aWorkflow(over: object = {}) {
  const body = {
    name: 'Report',
    owner_agent_id: owner,
    max_depth: 2,
    max_participants: 3,
    participants: [{ agent_id: worker, role: 'reader', allowed_actions: ['read'] }],
    ...over,
  };
  return ask<{ id: string }>('POST', '/api/v1/workflows', body, 201);
}

interface Session {
  id: string;
  wf_token: string;
  expires_at: string;
}
const start = (id: string, body?: object) =>
  ask<Session>('POST', `/api/v1/workflows/${id}/sessions`, body, 201);

const delegate = (workflow_session_id: string, body: object, status = 201) =>
  ask<{ id: string; d_token: string; detail: string }>(
    'POST',
    '/api/v1/delegations',
    {
      workflow_session_id,
      delegator_agent_id: owner,
      delegatee_agent_id: worker,
      scope: { tools: ['files/read_file'], resources: [] },
      reason: 'to read',
      ...body,
    },
    status,
  );

it('makes, changes, suspends and deletes workflows, and tells data planes', async () => {
  const { id } = await aWorkflow();
  expect(await newestFact('workflow', id)).toEqual(
    WorkflowFact.parse({
      id,
      status: 'active',
      owner_agent_id: owner,
      max_depth: 2,
      participants: [{ agent_id: worker, role: 'reader', allowed_actions: ['read'] }],
    }),
  );
  const path = `/api/v1/workflows/${id}`;
  expect(await ask('PUT', path, { name: 'Reports', participants: [] })).toMatchObject({
    name: 'Reports',
    max_depth: 2,
    participants: [],
  });
  expect(await ask('POST', `${path}/suspend`)).toMatchObject({ status: 'suspended' });
  expect(await newestFact('workflow', id)).toMatchObject({ status: 'suspended', participants: [] });
  const list = async (query: string) =>
    (await ask<{ workflows: { id: string }[] }>('GET', `/api/v1/workflows${query}`)).workflows.map(
      (one) => one.id,
    );
  expect(await list('?status_filter=suspended')).toEqual([id]);
  expect(await list('?status_filter=active')).toEqual([]);
  await ask('POST', `${path}/sessions`, undefined, 409);
  await ask('PUT', path, { status: 'active' });
  const session = await start(id);
  await ask('DELETE', path, undefined, 204);
  await ask('GET', path, undefined, 404);
  await ask('GET', `${path}/sessions/${session.id}`, undefined, 404);
  expect(await newestFact('workflow', id)).toBeNull();
  expect(await newestFact('workflow_session', session.id)).toBeNull();
  expect(await list('')).toEqual([]);
});

it('refuses participants that cannot be', async () => {
  const one = { agent_id: worker, role: 'r', allowed_actions: [] };
  const refused = async (over: object, status: number) => {
    const body = { name: 'x', owner_agent_id: owner, ...over };
    await ask('POST', '/api/v1/workflows', body, status);
  };
  await refused({ participants: [one, one] }, 422);
  await refused({ participants: [one, { ...one, agent_id: owner }], max_participants: 1 }, 422);
  await refused({ participants: [{ ...one, agent_id: uuidv7() }] }, 404);
  await refused({ owner_agent_id: uuidv7() }, 404);
  await refused({ max_depth: 65 }, 422);
});

it('starts sessions with a token of their own class, and ends them', async () => {
  const { id } = await aWorkflow();
  const { wf_token, ...session } = await start(id, {
    metadata: { ticket: 'T-1' },
    expires_in_seconds: 600,
  });
  expect(session).toMatchObject({
    workflow_id: id,
    initiated_by: scope.actor.username,
    status: 'active',
    metadata: { ticket: 'T-1' },
    started_at: new Date(time).toISOString(),
    completed_at: null,
    expires_at: new Date(time + 600_000).toISOString(),
  });
  expect(decodeProtectedHeader(wf_token)).toMatchObject({ typ: 'workflow-session+jwt' });
  const claims = decodeJwt(wf_token);
  expect(claims).toMatchObject({ sub: session.id, tenant_id: scope.tenantId });
  expect(claims.exp).toBe(time / 1000 + 600);
  const fact = { id: session.id, workflow_id: id, expires_at: session.expires_at };
  expect(await newestFact('workflow_session', session.id)).toEqual(WorkflowSessionFact.parse(fact));
  const path = `/api/v1/workflows/${id}/sessions`;
  expect(await ask('GET', `${path}/${session.id}`)).toEqual(session);
  expect(await ask('POST', `${path}/${session.id}/complete`)).toMatchObject({
    status: 'completed',
    completed_at: new Date(time).toISOString(),
  });
  expect(await newestFact('workflow_session', session.id)).toBeNull();
  await ask('POST', `${path}/${session.id}/abort`, undefined, 409);
  time += 1_000;
  const second = await start(id);
  expect(await ask('POST', `${path}/${second.id}/abort`)).toMatchObject({ status: 'aborted' });
  expect(await ask('GET', `${path}?limit=1`)).toMatchObject({
    sessions: [{ id: second.id }],
    total: 2,
  });
  // Not of another workflow.
  const { id: elsewhere } = await aWorkflow();
  await ask('GET', `/api/v1/workflows/${elsewhere}/sessions/${second.id}`, undefined, 404);
});

it('publishes the keys of its tokens as a kind that older data planes may ignore', async () => {
  const { rows } = await test.superuser.query<{ key: string; value: string }>(
    `SELECT DISTINCT key, value FROM feed_entries WHERE kind = 'optional.session_token_keys'`,
  );
  const kids = new Map(rows.map(({ key, value }) => [key, JSON.parse(value).keys[0].kid]));
  expect([...kids.keys()].sort()).toEqual(['delegation', 'workflow']);
  expect(kids.get('delegation')).not.toBe(kids.get('workflow'));
});

it('delegates within what the delegator may do, and no deeper than the workflow allows', async () => {
  const helper = await anAgent(['files:*']);
  const { id } = await aWorkflow();
  const session = await start(id);
  const { d_token, ...delegation } = await delegate(session.id, {});
  expect(delegation).toMatchObject({
    delegation_depth: 1,
    parent_delegation_id: null,
    effective_permissions: { tools: ['files/read_file'], resources: ['*'] },
    requester: owner,
    status: 'active',
    expires_at: session.expires_at,
    revoked_at: null,
  });
  expect(decodeProtectedHeader(d_token)).toMatchObject({ typ: 'delegation+jwt' });
  expect(DelegationFact.parse(await newestFact('delegation', delegation.id))).toMatchObject({
    tools: ['files/read_file'],
    depth: 1,
    delegatee_agent_id: worker,
  });

  const exceeding = async (body: object) => {
    const { detail } = await delegate(session.id, body, 403);
    expect(detail).toMatch(/^SCOPE_EXCEEDS_DELEGATOR/);
  };
  await exceeding({ scope: { tools: ['mail/send'] } });
  await exceeding({ scope: { tools: ['*'] } });
  // Of what was given to it, and not of its own roles.
  const passOn = { delegator_agent_id: worker, delegatee_agent_id: helper };
  await exceeding({ ...passOn, scope: { tools: ['files/*'] } });
  const second = await delegate(session.id, { ...passOn, requester: 'ann' });
  expect(second).toMatchObject({
    delegation_depth: 2,
    parent_delegation_id: delegation.id,
    requester: 'ann',
  });
  const third = { delegator_agent_id: helper, delegatee_agent_id: owner };
  expect((await delegate(session.id, third, 403)).detail).toMatch(/^DEPTH_EXCEEDS_MAX/);
  // Without what it was given, the helper takes no part.
  await exceeding({ ...third, parent_delegation_id: null });
  const own = { ...passOn, parent_delegation_id: null, scope: { tools: ['files/*'] } };
  expect(await delegate(session.id, own)).toMatchObject({ delegation_depth: 1 });

  const path = `/api/v1/workflows/${id}/sessions/${session.id}/delegations`;
  expect(await ask('GET', path)).toMatchObject({ total: 3 });
  expect(await ask('POST', `/api/v1/delegations/${delegation.id}/revoke`)).toMatchObject({
    status: 'revoked',
    revoked_at: new Date(time).toISOString(),
  });
  // What hangs on it ends with it.
  expect(await ask('GET', `/api/v1/delegations/${second.id}`)).toMatchObject({ status: 'revoked' });
  expect(await newestFact('delegation', second.id)).toBeNull();
  expect(await ask('POST', `/api/v1/delegations/${delegation.id}/revoke`)).toMatchObject({
    status: 'revoked',
  });
  await ask('POST', `/api/v1/workflows/${id}/sessions/${session.id}/complete`);
  expect(await ask('GET', path)).toMatchObject({
    delegations: [{ status: 'revoked' }, { status: 'revoked' }, { status: 'revoked' }],
  });
  await delegate(session.id, {}, 409);
  await test.superuser.query(
    `INSERT INTO delegations
     SELECT (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid()))).*
     FROM delegations d, generate_series(1, 100) WHERE d.id = $1`,
    [delegation.id],
  );
  // A list shows all of them, whoever names no limit.
  expect((await ask<{ delegations: object[] }>('GET', path)).delegations).toHaveLength(103);
});

it('delegates nothing beyond the scopes of roles, of the suspended, or across tenants', async () => {
  const narrow = await anAgent(['files:*'], ['target:/srv/**']);
  const { id } = await aWorkflow({
    participants: [{ agent_id: narrow, role: 'r', allowed_actions: ['*'] }],
  });
  const session = await start(id);
  const from = (scopes: object, status: number) =>
    delegate(session.id, { delegator_agent_id: narrow, scope: scopes }, status);
  await from({ tools: ['files/*'] }, 403);
  await from({ tools: ['files/*'], resources: ['/etc/**'] }, 403);
  await from({ tools: ['files/*'], resources: ['/**'] }, 403);
  await from({ tools: ['files/*'], resources: ['/srv/a/*', '/srv/**'] }, 201);
  await from({ tools: [], resources: [] }, 422);
  await from({ tools: ['files/*'], resources: ['../x'] }, 422);
  await delegate(session.id, { delegatee_agent_id: owner }, 422);
  await delegate(session.id, { delegatee_agent_id: uuidv7() }, 404);
  await delegate(uuidv7(), {}, 404);
  await ask('PATCH', `/api/v1/agents/${narrow}`, { status: 'suspended' });
  await from({ tools: ['files/read'], resources: ['/srv/a'] }, 403);
  const theirs = await call('/api/v1/delegations', {
    token: other.token,
    body: {
      workflow_session_id: session.id,
      delegator_agent_id: owner,
      delegatee_agent_id: worker,
      scope: { tools: ['files/read_file'] },
    },
  });
  expect(theirs.statusCode).toBe(404);
});

it('aborts sessions whose time is over', async () => {
  const { id } = await aWorkflow();
  const session = await start(id, { expires_in_seconds: 60 });
  const { id: delegation } = await delegate(session.id, {});
  time += 60_000;
  await delegate(session.id, {}, 409);
  const expiry = createSessionExpiry({ db: test.db, now: () => new Date(time) });
  await expiry.run(new AbortController().signal);
  const path = `/api/v1/workflows/${id}/sessions/${session.id}`;
  expect(await ask('GET', path)).toMatchObject({ status: 'aborted' });
  expect(await newestFact('workflow_session', session.id)).toBeNull();
  expect(await newestFact('delegation', delegation)).toBeNull();
});

it('delegates nothing by a clock that is ahead: the call would have come before it', async () => {
  time = Date.now();
  ({ token } = await aColleague(scope, 'admin'));
  const { id } = await aWorkflow();
  const session = await start(id);
  time += 6 * 60_000;
  const refused = await delegate(session.id, {}, 503);
  expect(refused).toMatchObject({ detail: expect.stringContaining("ahead of its database's") });
  time = Date.now();
  await delegate(session.id, {});
});
