import { createHash } from 'node:crypto';
import { AgentFact } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import { beforeEach, describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const waits: { tenantId: string; feedSeq: number | undefined }[] = [];
const { call, aTenantAdmin, superAdminToken, test } = await testControlPlane({
  applied: {
    wait: async (tenantId, { feedSeq }) => void waits.push({ tenantId, feedSeq }),
  },
});

const NEW_AGENT = {
  name: 'Invoice reader',
  agent_type: 'assistant',
  owner: 'finance@example.com',
  description: 'Reads invoices.',
};

let token: string;
let tenantId: string;
beforeEach(async () => {
  const admin = await aTenantAdmin();
  ({ token } = admin);
  ({ tenantId } = admin.scope);
  waits.length = 0;
});

async function register(overrides: Partial<typeof NEW_AGENT> = {}) {
  const answer = await call('/api/v1/agents', { token, body: { ...NEW_AGENT, ...overrides } });
  expect(answer.statusCode, answer.body).toBe(201);
  expect(answer.headers['cache-control']).toBe('no-store');
  return answer.json();
}

async function aRole(name: string, permissions = ['files/read_file:read']) {
  const body = { name, permissions, resource_scopes: ['/srv/docs'] };
  const answer = await call('/api/v1/roles', { token, body });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json();
}

const patch = (id: string, body: object) =>
  call(`/api/v1/agents/${id}`, { token, method: 'PATCH', body });

const get = async (path: string) => {
  const answer = await call(path, { token });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
};

const agentToken = (credentials: { client_id: string; client_secret: string }) =>
  call('/api/v1/auth/token', {
    body: {
      client_id: credentials.client_id,
      client_secret: credentials.client_secret,
      grant_type: 'client_credentials',
    },
  });

/** The agent as the data planes are told of it. */
async function newestFact(id: string): Promise<AgentFact & { seq: number }> {
  const { rows } = await test.superuser.query(
    `SELECT seq, value FROM feed_entries WHERE tenant_id = $1 AND kind = 'agent' AND key = $2
     ORDER BY seq DESC LIMIT 1`,
    [tenantId, id],
  );
  return { ...AgentFact.parse(JSON.parse(rows[0].value)), seq: Number(rows[0].seq) };
}

async function auditActions(target: string): Promise<string[]> {
  const { rows } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
     ORDER BY position`,
    [tenantId],
  );
  return rows
    .map((row) => JSON.parse(row.bytes.toString()))
    .filter((record) => record.target.startsWith(target))
    .map((record) => record.action);
}

describe('registration', () => {
  it('answers the fields of the specification, and the secret this one time', async () => {
    const agent = await register();
    expect(Object.keys(agent).sort()).toEqual([
      'client_id',
      'client_secret',
      'created_at',
      'id',
      'name',
      'status',
    ]);
    expect(agent).toMatchObject({ name: NEW_AGENT.name, status: 'active' });
    expect(agent.client_secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(agent.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

    const details = await get(`/api/v1/agents/${agent.id}`);
    expect(details).toMatchObject({
      ...NEW_AGENT,
      id: agent.id,
      client_id: agent.client_id,
      status: 'active',
      risk_score: 0,
      risk_tier: 'low',
      baseline_status: 'none',
      has_recent_drift: false,
      roles: [],
      permissions: [],
    });
    expect(JSON.stringify(details)).not.toContain(agent.client_secret);
  });

  it('keeps only the hash of the secret', async () => {
    const agent = await register();
    const { rows } = await test.superuser.query(
      'SELECT secret_hash FROM agents WHERE tenant_id = $1 AND id = $2',
      [tenantId, agent.id],
    );
    const hash = createHash('sha256').update(agent.client_secret).digest('hex');
    expect(rows[0].secret_hash).toBe(hash);
    expect((await newestFact(agent.id)).secret_hash).toBe(hash);
    const { rows: found } = await test.superuser.query(
      `SELECT 1 FROM ledger_records WHERE tenant_id = $1
       AND position(convert_to($2, 'UTF8') in bytes) > 0`,
      [tenantId, agent.client_secret],
    );
    expect(found).toEqual([]);
  });

  it('reaches the data planes before the answer, and is audited', async () => {
    const agent = await register();
    const fact = await newestFact(agent.id);
    expect(fact).toMatchObject({ status: 'active', credential_version: 1, role_ids: [] });
    expect(waits).toEqual([{ tenantId, feedSeq: fact.seq }]);
    expect(await auditActions(`agent/${agent.id}`)).toEqual(['agent_created']);
  });

  it('lets the agent get a token', async () => {
    const answer = await agentToken(await register());
    expect(answer.statusCode, answer.body).toBe(200);
  });

  it('takes two agents of one name', async () => {
    const [first, second] = [await register(), await register()];
    expect(first.client_id).not.toBe(second.client_id);
  });
});

describe('the list', () => {
  it('has the fields of the specification, newest first, in pages', async () => {
    for (const name of ['first', 'second', 'third']) await register({ name });
    const { agents, total } = await get('/api/v1/agents');
    expect(total).toBe(3);
    expect(agents.map((agent: { name: string }) => agent.name)).toEqual([
      'third',
      'second',
      'first',
    ]);
    expect(Object.keys(agents[0]).sort()).toEqual([
      'agent_type',
      'baseline_status',
      'client_id',
      'created_at',
      'has_recent_drift',
      'id',
      'name',
      'owner',
      'risk_score',
      'risk_tier',
      'status',
    ]);
    const page = await get('/api/v1/agents?limit=1&offset=1');
    expect(page).toMatchObject({ total: 3, agents: [{ name: 'second' }] });
    expect(await get('/api/v1/agents?offset=3')).toEqual({ total: 3, agents: [] });
  });

  it('filters by status', async () => {
    const agents = [];
    for (const name of ['a', 's', 'd']) agents.push(await register({ name }));
    await patch(agents[1].id, { status: 'suspended' });
    await patch(agents[2].id, { status: 'deprovisioned' });
    for (const [status, name] of [
      ['active', 'a'],
      ['suspended', 's'],
      ['deprovisioned', 'd'],
    ]) {
      const page = await get(`/api/v1/agents?status=${status}`);
      expect(page).toMatchObject({ total: 1, agents: [{ name, status }] });
    }
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=ten',
    'offset=-1',
    'status=asleep',
    'limit=1.5',
  ])('refuses ?%s', async (query) => {
    const answer = await call(`/api/v1/agents?${query}`, { token });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().detail).toContain('query.');
  });

  it('shows nothing of another tenant', async () => {
    await register();
    const other = await aTenantAdmin();
    const answer = await call('/api/v1/agents', { token: other.token });
    expect(answer.json()).toEqual({ agents: [], total: 0 });
  });

  it('goes through an index, whatever it filters', async () => {
    const plan = async (condition: string) => {
      const client = await test.superuser.connect();
      try {
        await client.query('SET enable_seqscan = off');
        const { rows } = await client.query(
          `EXPLAIN SELECT * FROM agents WHERE tenant_id = $1 ${condition}`,
          [tenantId],
        );
        return rows.map((row) => row['QUERY PLAN']).join('\n');
      } finally {
        client.release(true);
      }
    };
    expect(await plan('ORDER BY created_at DESC, id DESC LIMIT 50')).toMatch(
      /Index Scan Backward using agents_tenant_id_created_at_id_idx/,
    );
    const caught = "status = 'active' AND kill_released_generation < 3";
    expect(await plan(`AND ${caught}`)).toContain('agents_tenant_id_status_idx');
    expect(await plan(`AND (status = 'suspended' OR (${caught}))`)).toContain(
      'agents_tenant_id_status_idx',
    );
  });
});

describe('a change', () => {
  it('takes any subset of the fields', async () => {
    const { id } = await register();
    const answer = await patch(id, { name: 'Renamed' });
    expect(answer.json()).toMatchObject({ id, name: 'Renamed', description: 'Reads invoices.' });
    expect((await patch(id, { description: '' })).json()).toMatchObject({ description: '' });
    expect((await newestFact(id)).name).toBe('Renamed');
    expect(await auditActions(`agent/${id}`)).toEqual([
      'agent_created',
      'agent_updated',
      'agent_updated',
    ]);
  });

  it('without a difference writes nothing', async () => {
    const { id } = await register();
    const { seq } = await newestFact(id);
    expect((await patch(id, {})).statusCode).toBe(200);
    expect((await patch(id, { name: NEW_AGENT.name, status: 'active' })).statusCode).toBe(200);
    expect((await newestFact(id)).seq).toBe(seq);
    expect(await auditActions(`agent/${id}`)).toEqual(['agent_created']);
  });

  it('of the status decides whether there are tokens', async () => {
    const agent = await register();
    const suspended = await patch(agent.id, { status: 'suspended' });
    expect(suspended.json()).toMatchObject({ status: 'suspended' });
    const refused = await agentToken(agent);
    expect(refused.statusCode).toBe(403);
    expect(refused.json().detail).toEqual(expect.any(String));
    expect((await patch(agent.id, { status: 'active' })).json()).toMatchObject({
      status: 'active',
    });
    expect((await agentToken(agent)).statusCode).toBe(200);
    expect(await auditActions(`agent/${agent.id}`)).toEqual([
      'agent_created',
      'agent_suspended',
      'agent_activated',
    ]);
  });

  it('to deprovisioned is final', async () => {
    const agent = await register();
    const role = await aRole('reader');
    expect((await patch(agent.id, { status: 'deprovisioned' })).statusCode).toBe(200);
    expect((await agentToken(agent)).statusCode).toBe(403);
    const refused = [
      await patch(agent.id, { status: 'active' }),
      await patch(agent.id, { status: 'suspended' }),
      await patch(agent.id, { name: 'Back' }),
      await call(`/api/v1/agents/${agent.id}/rotate`, { token, method: 'POST' }),
      await call(`/api/v1/agents/${agent.id}/roles`, { token, body: { role_id: role.id } }),
    ];
    expect(refused.map((answer) => answer.statusCode)).toEqual([409, 409, 409, 409, 409]);
    expect(refused[0]?.json().detail).toContain('deprovisioned');
    expect((await patch(agent.id, { status: 'deprovisioned' })).statusCode).toBe(200);
    expect(await get(`/api/v1/agents/${agent.id}`)).toMatchObject({ status: 'deprovisioned' });
  });
});

describe('rotation', () => {
  it('ends the old secret at once', async () => {
    const agent = await register();
    const answer = await call(`/api/v1/agents/${agent.id}/rotate`, { token, method: 'POST' });
    expect(answer.statusCode, answer.body).toBe(200);
    const rotated = answer.json();
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(Object.keys(rotated).sort()).toEqual(['client_id', 'client_secret', 'id', 'rotated_at']);
    expect(rotated).toMatchObject({ id: agent.id, client_id: agent.client_id });
    expect(rotated.client_secret).not.toBe(agent.client_secret);
    expect((await agentToken(agent)).statusCode).toBe(401);
    expect((await agentToken(rotated)).statusCode).toBe(200);
    const fact = await newestFact(agent.id);
    expect(fact.credential_version).toBe(2);
    expect(waits.at(-1)).toEqual({ tenantId, feedSeq: fact.seq });
    expect(await auditActions(`agent/${agent.id}`)).toContain('agent_secret_rotated');
  });

  it('ten times at once raises the version ten times, and one secret is valid', async () => {
    const agent = await register();
    const rotate = () => call(`/api/v1/agents/${agent.id}/rotate`, { token, method: 'POST' });
    const answers = await Promise.all(Array.from({ length: 10 }, rotate));
    expect((await newestFact(agent.id)).credential_version).toBe(11);
    const statuses = [];
    for (const answer of answers) statuses.push((await agentToken(answer.json())).statusCode);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(9);
  });
});

describe('roles of an agent', () => {
  it('are assigned and removed, and determine its permissions', async () => {
    const { id } = await register();
    const reader = await aRole('reader', ['files:read', 'mail:read']);
    const writer = await aRole('writer', ['files:write', 'files:read']);
    for (const role of [reader, writer]) {
      const answer = await call(`/api/v1/agents/${id}/roles`, {
        token,
        body: { role_id: role.id },
      });
      expect(answer.statusCode, answer.body).toBe(200);
    }
    const details = await get(`/api/v1/agents/${id}`);
    expect(details.roles).toMatchObject([
      { id: reader.id, name: 'reader' },
      { id: writer.id, name: 'writer' },
    ]);
    expect(details.permissions).toEqual(['files:read', 'files:write', 'mail:read']);
    expect((await newestFact(id)).role_ids.sort()).toEqual([reader.id, writer.id].sort());

    const removed = await call(`/api/v1/agents/${id}/roles/${reader.id}`, {
      token,
      method: 'DELETE',
    });
    expect(removed.statusCode).toBe(204);
    expect(removed.body).toBe('');
    expect((await get(`/api/v1/agents/${id}`)).permissions).toEqual(['files:read', 'files:write']);
    expect((await newestFact(id)).role_ids).toEqual([writer.id]);
    expect(await auditActions(`agent/${id}`)).toEqual([
      'agent_created',
      'agent_role_assigned',
      'agent_role_assigned',
      'agent_role_removed',
    ]);
  });

  it('assigned twice are assigned once', async () => {
    const { id } = await register();
    const { id: role_id } = await aRole('reader');
    await call(`/api/v1/agents/${id}/roles`, { token, body: { role_id } });
    const { seq } = await newestFact(id);
    const again = await call(`/api/v1/agents/${id}/roles`, { token, body: { role_id } });
    expect(again.statusCode).toBe(200);
    expect((await newestFact(id)).seq).toBe(seq);
  });

  it('assigned all at once are all in the last fact', async () => {
    const { id } = await register();
    const roles = [];
    for (let i = 0; i < 5; i++) roles.push(await aRole(`role-${i}`));
    await Promise.all(
      roles.map((role) =>
        call(`/api/v1/agents/${id}/roles`, { token, body: { role_id: role.id } }),
      ),
    );
    expect((await newestFact(id)).role_ids).toHaveLength(5);
  });

  it('that are not assigned, or do not exist, are not found', async () => {
    const { id } = await register();
    const role = await aRole('reader');
    const other = await aTenantAdmin();
    const foreign = await call('/api/v1/roles', {
      token: other.token,
      body: { name: 'foreign', permissions: [] },
    });
    const { id: foreignRole } = foreign.json();
    const answers = [
      await call(`/api/v1/agents/${id}/roles`, { token, body: { role_id: uuidv7() } }),
      await call(`/api/v1/agents/${id}/roles`, { token, body: { role_id: foreignRole } }),
      await call(`/api/v1/agents/${uuidv7()}/roles`, { token, body: { role_id: role.id } }),
      await call(`/api/v1/agents/${id}/roles/${role.id}`, { token, method: 'DELETE' }),
      await call(`/api/v1/agents/${id}/roles/no-uuid`, { token, method: 'DELETE' }),
    ];
    expect(answers.map((answer) => answer.statusCode)).toEqual([404, 404, 404, 404, 404]);
  });
});

describe('whoever asks', () => {
  it('finds nothing in another tenant', async () => {
    const { id } = await register();
    const { token } = await aTenantAdmin();
    const answers = [
      await call(`/api/v1/agents/${id}`, { token }),
      await call(`/api/v1/agents/${id}`, { token, method: 'PATCH', body: { name: 'Mine' } }),
      await call(`/api/v1/agents/${id}/rotate`, { token, method: 'POST' }),
    ];
    expect(answers.map((answer) => answer.statusCode)).toEqual([404, 404, 404]);
    expect(answers[0]?.json()).toEqual({ detail: 'No such agent.' });
    expect((await get(`/api/v1/agents/${id}`)).name).toBe(NEW_AGENT.name);
  });

  it('as a super-admin names the tenant, and is recorded', async () => {
    const superToken = await superAdminToken();
    expect((await call('/api/v1/agents', { token: superToken })).statusCode).toBe(400);
    const answer = await call('/api/v1/agents', {
      token: superToken,
      headers: { 'x-tenant-id': tenantId },
      body: NEW_AGENT,
    });
    expect(answer.statusCode).toBe(201);
    expect(await auditActions('')).toEqual(['break_glass_access', 'agent_created']);
  });

  it.each([
    ['no body', undefined],
    ['an empty object', {}],
    ['an array', []],
    ['a string', '"agent"'],
    ['no name', { ...NEW_AGENT, name: undefined }],
    ['an empty name', { ...NEW_AGENT, name: '  ' }],
    ['a long name', { ...NEW_AGENT, name: 'x'.repeat(201) }],
    ['a name of another type', { ...NEW_AGENT, name: 5 }],
    ['a NUL character', { ...NEW_AGENT, owner: 'a\u0000b' }],
    ['a lone surrogate', '{"name":"\\ud800","agent_type":"t","owner":"o"}'],
    ['a field of nobody', { ...NEW_AGENT, risk_score: 0 }],
    ['a description that is an object', { ...NEW_AGENT, description: {} }],
  ])('gets a 4xx for %s', async (_, body) => {
    const answer = await call('/api/v1/agents', {
      token,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: body as object }),
    });
    expect(answer.statusCode, answer.body).toBeGreaterThanOrEqual(400);
    expect(answer.statusCode).toBeLessThan(500);
    expect(answer.json().detail).toEqual(expect.any(String));
    expect((await get('/api/v1/agents')).total).toBe(0);
  });

  it('gets 422 for a misspelt field, which could hide a suspension', async () => {
    const { id } = await register();
    const answer = await patch(id, { state: 'suspended' });
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({ errors: [{ loc: ['body', 'state'] }] });
    expect((await patch(id, { status: 'asleep' })).statusCode).toBe(422);
  });
});
