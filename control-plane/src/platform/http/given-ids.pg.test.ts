/**
 * A UUID names the same thing in either case. PostgreSQL finds its row by both; what a request
 * changes must reach data planes under the one key that they have.
 */
import { uuidv7 } from '@governance/shared/ids';
import { beforeAll, expect, it } from 'vitest';
import {
  type CallOptions,
  testControlPlane,
} from '../../../../tests/support/test-control-plane.ts';

const { call, test, aTenantAdmin, superAdminToken } = await testControlPlane();
const { scope, token } = await aTenantAdmin();

async function send(method: CallOptions['method'], url: string, body?: object) {
  const answer = await call(url, { method, token, ...(body && { body }) });
  expect(answer.statusCode, `${method} ${url}: ${answer.body}`).toBeLessThan(300);
  return (answer.body === '' ? {} : answer.json()) as Record<string, string>;
}

const anAgent = async () => {
  const body = { name: 'one', agent_type: 'assistant', owner: 'us', description: '' };
  return String((await send('POST', '/api/v1/agents', body)).id);
};
const upper = (id: string | undefined) => String(id).toUpperCase();

/** The newest fact of a kind and key; undefined where there is none, null for a tombstone. */
async function fact(
  kind: string,
  key: string,
): Promise<Record<string, unknown> | null | undefined> {
  const { rows } = await test.superuser.query<{ value: string | null }>(
    `SELECT value FROM feed_entries WHERE tenant_id = $1 AND kind = $2 AND key = $3
     ORDER BY seq DESC LIMIT 1`,
    [scope.tenantId, kind, key],
  );
  const [row] = rows;
  return row && (row.value === null ? null : JSON.parse(row.value));
}

let agent: string;
let role: string;
beforeAll(async () => {
  agent = await anAgent();
  const body = { name: 'role', description: '', permissions: ['*:*'], resource_scopes: [] };
  role = String((await send('POST', '/api/v1/roles', body)).id);
});

it('suspends, rotates and changes roles of the agent', async () => {
  const path = `/api/v1/agents/${upper(agent)}`;
  await send('POST', `${path}/roles`, { role_id: upper(role) });
  expect(await fact('agent', agent)).toMatchObject({ role_ids: [role] });
  await send('DELETE', `${path}/roles/${upper(role)}`);
  expect(await fact('agent', agent)).toMatchObject({ role_ids: [] });
  await send('POST', `${path}/rotate`);
  expect(await fact('agent', agent)).toMatchObject({ credential_version: 2 });
  await send('PATCH', path, { status: 'suspended' });
  expect(await fact('agent', agent)).toMatchObject({ status: 'suspended' });
  await send('PATCH', path, { status: 'active' });
});

it('rotates and revokes a credential', async () => {
  const body = { label: 'laptop', client: 'cursor' };
  const { id } = await send('POST', `/api/v1/agents/${upper(agent)}/credentials`, body);
  const path = `/api/v1/agents/${upper(agent)}/credentials/${upper(id)}`;
  expect(await fact('optional.agent_credential', String(id))).toMatchObject({
    agent_id: agent,
    version: 1,
  });
  await send('POST', `${path}/rotate`);
  expect(await fact('optional.agent_credential', String(id))).toMatchObject({ version: 2 });
  await send('DELETE', path);
  expect(await fact('optional.agent_credential', String(id))).toBeNull();
});

it('starts, delegates in, and ends a session of a workflow', async () => {
  const worker = await anAgent();
  await send('POST', `/api/v1/agents/${agent}/roles`, { role_id: role });
  const made = await send('POST', '/api/v1/workflows', {
    name: 'flow',
    owner_agent_id: upper(agent),
    participants: [{ agent_id: upper(worker), role: 'worker', allowed_actions: ['*'] }],
  });
  const id = String(made.id);
  expect(await fact('workflow', id)).toMatchObject({
    owner_agent_id: agent,
    participants: [{ agent_id: worker }],
  });
  const sessions = `/api/v1/workflows/${upper(id)}/sessions`;
  for (const end of ['complete', 'abort']) {
    const session = String((await send('POST', sessions, {})).id);
    expect(await fact('workflow_session', session)).toMatchObject({ workflow_id: id });
    const delegation = await send('POST', '/api/v1/delegations', {
      workflow_session_id: upper(session),
      delegator_agent_id: upper(agent),
      delegatee_agent_id: upper(worker),
      scope: { tools: ['up/*'], resources: [] },
    });
    expect(await fact('delegation', String(delegation.id))).toMatchObject({
      workflow_session_id: session,
      delegator_agent_id: agent,
      delegatee_agent_id: worker,
    });
    await send('POST', `${sessions}/${upper(session)}/${end}`);
    expect(await fact('workflow_session', session)).toBeNull();
  }
  const self = await call('/api/v1/delegations', {
    token,
    body: {
      workflow_session_id: uuidv7(),
      delegator_agent_id: agent,
      delegatee_agent_id: upper(agent),
      scope: { tools: ['up/*'], resources: [] },
    },
  });
  expect(self.statusCode).toBeGreaterThanOrEqual(400);
});

it('finds by query, and by the header of a super-admin’s tenant', async () => {
  await send('POST', '/api/v1/exceptions', {
    justification: 'It was agreed with the owner of the server.',
    expires_in_hours: 24,
    agent_id: upper(agent),
  });
  const ofAgent = `/api/v1/exceptions?agent_id=${upper(agent)}`;
  expect(await send('GET', ofAgent)).toMatchObject({ total: 1 });
  const headers = { 'x-tenant-id': upper(scope.tenantId) };
  const answer = await call(ofAgent, { token: await superAdminToken(), headers });
  expect([answer.statusCode, answer.json().total]).toEqual([200, 1]);
});

it('no fact is written under a key in upper case', async () => {
  const write = test.db.inTenant(scope, async (tx) => {
    tx.feed.append({ kind: 'workflow', key: upper(uuidv7()), value: null });
  });
  await expect(write).rejects.toThrow('not in lower case');
});
