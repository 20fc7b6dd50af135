import { describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

let time = Date.now();
const { call, test, aTenantAdmin, logged } = await testControlPlane({ now: () => new Date(time) });
const TOKENS = '/api/v1/admin/enrollment-tokens';
const HOUR_MS = 3_600_000;
const AGENT = { name: 'helper', agent_type: 'assistant', owner: 'ann' };

const issue = async (token: string, given: object = {}) => {
  const answer = await call(TOKENS, { token, body: { label: 'laptops', ...given } });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json() as { id: string; token: string };
};
const enroll = (secret: string, from: { remoteAddress?: string } = {}) =>
  call('/api/v1/enroll', { body: { enrollment_token: secret, ...AGENT }, ...from });

async function recordsOf(tenantId: string) {
  const { rows } = await test.superuser.query<{ bytes: Buffer }>(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
     ORDER BY position`,
    [tenantId],
  );
  return rows.map(({ bytes }) => JSON.parse(bytes.toString()));
}

describe('an enrollment token', () => {
  it('registers an agent with its roles, whose credentials work at once', async () => {
    const { token, scope } = await aTenantAdmin();
    const role = (
      await call('/api/v1/roles', { token, body: { name: 'reader', permissions: ['files:read'] } })
    ).json();
    const issued = await issue(token, { role_ids: [role.id] });
    const answer = await enroll(issued.token);
    expect(answer.statusCode, answer.body).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    const agent = answer.json();
    const basic = Buffer.from(`${agent.client_id}:${agent.client_secret}`).toString('base64');
    expect(agent).toMatchObject({
      ...{ name: 'helper', status: 'active' },
      config: {
        mcpServers: {
          governance: {
            url: 'https://governance.example/mcp/v1',
            headers: { Authorization: `Basic ${basic}` },
          },
        },
      },
    });
    const { client_id, client_secret } = agent;
    const grant = { grant_type: 'client_credentials', client_id, client_secret };
    expect((await call('/api/v1/auth/token', { body: grant })).statusCode).toBe(200);
    const shown = (await call(`/api/v1/agents/${agent.id}`, { token })).json();
    expect(shown).toMatchObject({ permissions: ['files:read'], roles: [{ id: role.id }] });
    const { rows } = await test.superuser.query<{ value: string }>(
      `SELECT value FROM feed_entries WHERE tenant_id = $1 AND kind = 'agent'`,
      [scope.tenantId],
    );
    expect(rows.map(({ value }) => JSON.parse(value).role_ids)).toEqual([[role.id]]);
    const records = (await recordsOf(scope.tenantId)).slice(-4);
    expect(records.map(({ action }) => action)).toEqual([
      ...['enrollment_token_issued', 'agent_created', 'agent_role_assigned', 'agent_enrolled'],
    ]);
    expect(records[3].actor).toMatchObject({ username: `enrollment-token:${issued.id}` });
    for (const secret of [issued.token, client_secret]) {
      expect(JSON.stringify(records) + logged.join('')).not.toContain(secret);
    }
  });

  it('is used as often as it may, also by many at once', async () => {
    const { token, scope } = await aTenantAdmin();
    const issued = await issue(token, { max_uses: 3 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => enroll(issued.token)));
    const statuses = answers.map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 201)).toHaveLength(3);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    const { rows } = await test.superuser.query(
      'SELECT count(*)::int AS agents FROM agents WHERE tenant_id = $1',
      [scope.tenantId],
    );
    expect(rows[0].agents).toBe(3);
    const listed = (await call(TOKENS, { token })).json();
    expect(listed).toMatchObject({ total: 1, tokens: [{ uses: 3, max_uses: 3 }] });
    expect(JSON.stringify(listed)).not.toContain(issued.token);
  });

  it('that has expired, was revoked or is unknown gets the same answer, and registers nothing', async () => {
    const { token, scope } = await aTenantAdmin();
    const [revoked, over] = [await issue(token), await issue(token, { expires_in_hours: 1 })];
    await call(`${TOKENS}/${revoked.id}`, { token, method: 'DELETE' });
    time += HOUR_MS;
    for (const secret of [revoked.token, over.token, 'enr_none', revoked.id]) {
      const answer = await enroll(secret);
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toEqual({
        detail: 'The enrollment token is unknown, used up, revoked or expired.',
      });
    }
    const { rows } = await test.superuser.query('SELECT 1 FROM agents WHERE tenant_id = $1', [
      scope.tenantId,
    ]);
    expect(rows).toEqual([]);
  });

  it('is open to 60 guesses a minute from an address, and never refused for others’ guesses', async () => {
    const { token } = await aTenantAdmin();
    const issued = await issue(token);
    const from = { remoteAddress: '198.51.100.7' };
    const sent = Array.from({ length: 70 }, (_, i) => enroll(`enr_${i}`, from));
    const statuses = (await Promise.all(sent)).map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 401)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect((await enroll(issued.token, from)).statusCode).toBe(201);
  });

  it('has roles of its own tenant alone', async () => {
    const [mine, theirs] = [await aTenantAdmin(), await aTenantAdmin()];
    const body = { name: 'theirs', permissions: ['*:*'] };
    const role = (await call('/api/v1/roles', { token: theirs.token, body })).json();
    const given = { label: 'x', role_ids: [role.id] };
    expect((await call(TOKENS, { token: mine.token, body: given })).statusCode).toBe(404);
  });

  it('is one of 200 that can be used', async () => {
    const { token, scope } = await aTenantAdmin();
    await test.superuser.query(
      `INSERT INTO enrollment_tokens (tenant_id, id, label, token_hash, max_uses, created_by, expires_at)
       SELECT $1, gen_random_uuid(), 'many', 'hash-' || n, 1, 'x', $2 FROM generate_series(1, 200) n`,
      [scope.tenantId, new Date(time + HOUR_MS)],
    );
    const more = await call(TOKENS, { token, body: { label: 'one more' } });
    expect(more.statusCode, more.body).toBe(409);
    time += 2 * HOUR_MS;
    await issue(token);
  });
});

describe('signing up', () => {
  let people = 0;
  const aBody = (given: object = {}) => {
    const n = ++people;
    const admin = { username: `owner-${n}@example.com`, password: 'a long password' };
    return { organization: `Organization ${n}`, admin, ...given };
  };
  const signUp = (body: object, remoteAddress: string) =>
    call('/api/v1/signup', { body, remoteAddress });

  it('makes a tenant whose administrator logs in and whose token registers an agent', async () => {
    const body = aBody();
    const answer = await signUp(body, '192.0.2.1');
    expect(answer.statusCode, answer.body).toBe(201);
    const made = answer.json();
    expect(made).toMatchObject({
      tenant: { name: body.organization },
      admin: { username: body.admin.username, role: 'admin' },
      enrollment_token: { token: expect.stringMatching(/^enr_/), max_uses: 10 },
      config: { mcpServers: { governance: { url: 'https://governance.example/mcp/v1' } } },
    });
    const login = await call('/api/v1/auth/admin/login', { body: body.admin });
    const token = login.json().access_token;
    const agent = (await enroll(made.enrollment_token.token)).json();
    expect((await call(`/api/v1/agents/${agent.id}`, { token })).json()).toMatchObject({
      ...{ name: 'helper', permissions: [] },
    });
    const policies = (await call('/api/v1/policies?status=active', { token })).json();
    expect(policies.total).toBeGreaterThan(0);
    const actions = (await recordsOf(made.tenant.id)).map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(['tenant_created', 'enrollment_token_issued']));
  });

  it('with a name that is taken creates nothing, and does not say which one is taken', async () => {
    const body = aBody();
    await signUp(body, '192.0.2.2');
    const counts = async () =>
      (
        await test.superuser.query(
          `SELECT (SELECT count(*) FROM tenants) AS tenants,
             (SELECT count(*) FROM administrators) AS users,
             (SELECT count(*) FROM enrollment_tokens) AS tokens`,
        )
      ).rows[0];
    const before = await counts();
    const others = [
      { ...aBody(), organization: body.organization },
      { ...aBody(), admin: { ...body.admin, username: body.admin.username.toUpperCase() } },
      { ...aBody(), admin: { ...body.admin, username: 'SuperAdmin' } },
    ];
    for (const other of others) {
      const answer = await signUp(other, '192.0.2.3');
      expect(answer.statusCode).toBe(409);
      expect(answer.json()).toEqual({ detail: 'The organization or the user already exists.' });
    }
    expect(await counts()).toEqual(before);
  });

  it('of one name by many at once makes one tenant', async () => {
    const body = aBody();
    const sent = Array.from({ length: 5 }, (_, i) => signUp(body, `203.0.113.${i}`));
    const statuses = (await Promise.all(sent)).map(({ statusCode }) => statusCode);
    expect(statuses.sort()).toEqual([201, 409, 409, 409, 409]);
  });

  it('is limited to five requests an hour from an address, whatever their outcome', async () => {
    const body = aBody();
    const from = '192.0.2.9';
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push((await signUp(body, from)).statusCode);
    expect(statuses).toEqual([201, 409, 409, 409, 409, 429]);
    time += 2 * HOUR_MS;
    expect((await signUp(aBody(), from)).statusCode).toBe(201);
  });
});
