import { RoleFact, ScopedRoleFact } from '@governance/shared/channel/facts';
import { beforeEach, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, aTenantAdmin, test } = await testControlPlane();

let token: string;
let tenantId: string;
beforeEach(async () => {
  const admin = await aTenantAdmin();
  ({ token } = admin);
  ({ tenantId } = admin.scope);
});

const create = (body: unknown) =>
  call('/api/v1/roles', { token, method: 'POST', body: body as object });

const READER = {
  name: 'reader',
  description: 'Reads files.',
  permissions: ['files/read_file:read', '*:read', 'a:b:execute'],
  resource_scopes: [] as string[],
};

it('a role is created, sent to the data planes and audited', async () => {
  const answer = await create(READER);
  expect(answer.statusCode, answer.body).toBe(201);
  const role = answer.json();
  expect(role).toMatchObject(READER);

  const { rows } = await test.superuser.query(
    `SELECT value FROM feed_entries WHERE tenant_id = $1 AND kind = 'role' AND key = $2`,
    [tenantId, role.id],
  );
  const { name, permissions, resource_scopes } = READER;
  const fact = RoleFact.parse(JSON.parse(rows[0].value));
  expect(fact).toEqual({ id: role.id, name, permissions, resource_scopes });
  const { rows: records } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'`,
    [tenantId],
  );
  expect(JSON.parse(records[0].bytes.toString())).toMatchObject({
    action: 'role_created',
    target: `role/${role.id}`,
    details: { name, permissions },
  });
});

it('what a role permits within scopes is in a fact that older data planes do not read', async () => {
  const body = { ...READER, resource_scopes: ['tool:files/*', 'target:/srv/docs/**'] };
  const role = (await create(body)).json();
  expect(role).toMatchObject(body);
  const { rows } = await test.superuser.query(
    'SELECT kind, value FROM feed_entries WHERE tenant_id = $1 AND key = $2 ORDER BY seq',
    [tenantId, role.id],
  );
  const { id } = role;
  const { permissions, resource_scopes } = body;
  expect(rows.map(({ kind }) => kind)).toEqual(['role', 'scoped_role']);
  expect(RoleFact.parse(JSON.parse(rows[0].value))).toMatchObject({ permissions: [] });
  expect(ScopedRoleFact.parse(JSON.parse(rows[1].value))).toEqual({
    id,
    permissions,
    resource_scopes,
  });
});

it('says what of a role concerns nothing that is registered, and creates it', async () => {
  const url = 'https://files.example.com/mcp';
  const server = { server_id: 'files', transport: 'streamable-http', url };
  const registered = await call('/api/v1/mcp-servers', { token, method: 'POST', body: server });
  expect(registered.statusCode, registered.body).toBe(201);
  const permissions = ['files:read', 'files/*:read', '*:*', '*/x:read', 'f*/y:read'];
  const fine = await create({
    name: 'fine',
    permissions,
    resource_scopes: ['files/*', 'target:/a'],
  });
  expect(fine.json().warnings).toEqual([]);
  const wrong = await create({
    name: 'wrong',
    permissions: ['filez:read', 'filez/read:read', 'files:fly'],
    resource_scopes: ['filez/*'],
  });
  expect(wrong.statusCode).toBe(201);
  expect(wrong.json().warnings).toEqual([
    'filez:read: no MCP server filez is registered; it covers only tools of that name',
    'filez/read:read: no MCP server filez is registered',
    'files:fly: the action is not one of read, write, delete, execute',
    'filez/*: the scope matches no tool of a registered MCP server, as server/tool',
  ]);
  // Another tenant's servers are none of its own.
  ({ token } = await aTenantAdmin());
  const other = await create({ name: 'other', permissions: ['files:read'] });
  expect(other.json().warnings).toHaveLength(1);
});

it('roles are listed by name, each tenant its own', async () => {
  for (const name of ['writer', 'reader']) await create({ ...READER, name });
  const answer = await call('/api/v1/roles', { token });
  expect(answer.json()).toMatchObject({
    total: 2,
    roles: [{ name: 'reader' }, { name: 'writer' }],
  });
  const page = await call('/api/v1/roles?limit=1&offset=1', { token });
  expect(page.json()).toMatchObject({ total: 2, roles: [{ name: 'writer' }] });
  const other = await aTenantAdmin();
  expect((await call('/api/v1/roles', { token: other.token })).json()).toEqual({
    roles: [],
    total: 0,
  });
});

it('a name is taken once a tenant', async () => {
  await create(READER);
  const again = await create(READER);
  expect(again.statusCode).toBe(409);
  expect(again.json().detail).toContain('name');
  ({ token } = await aTenantAdmin());
  expect((await create(READER)).statusCode).toBe(201);
});

it('of two at once with one name, one is created', async () => {
  const answers = await Promise.all([create(READER), create(READER), create(READER)]);
  expect(answers.map((answer) => answer.statusCode).sort()).toEqual([201, 409, 409]);
});

it('needs nothing but a name', async () => {
  expect((await create({ name: 'empty' })).json()).toMatchObject({
    permissions: [],
    resource_scopes: [],
    description: '',
  });
});

it.each([
  ['no colon', ['read']],
  ['no action', ['files:']],
  ['no resource', [':read']],
  ['a space', ['my files:read']],
  ['a NUL character', ['fi\u0000les:read']],
  ['another type', [5]],
  ['a list in the list', [['files:read']]],
  ['a text for the list', 'files:read'],
])('refuses permissions with %s', async (_, permissions) => {
  const answer = await create({ ...READER, permissions });
  expect(answer.statusCode, answer.body).toBe(422);
  expect(answer.json().detail).toContain('body.permissions');
});

it.each([
  ['no name', { ...READER, name: undefined }],
  ['an array', [READER]],
  ['an unknown field', { ...READER, permission: ['files:read'] }],
  ['a scope that is none', { ...READER, resource_scopes: [''] }],
  ['a scope of no known kind', { ...READER, resource_scopes: ['tagret:/srv/**'] }],
  ['a scope that leads upwards', { ...READER, resource_scopes: ['target:/srv/../etc/*'] }],
  ['a scope with too many stars', { ...READER, resource_scopes: ['*a'.repeat(17)] }],
])('refuses %s', async (_, body) => {
  const answer = await create(body);
  expect(answer.statusCode, answer.body).toBe(422);
});

/** A role of so many KiB. */
const large = (name: string, kib: number) =>
  create({
    name,
    permissions: Array.from({ length: kib * 2 }, (_, i) =>
      `${i}-`.padEnd(507, 'x').concat(':read'),
    ).map((permission) => permission.slice(-500)),
  });

it('one agent’s roles hold a MiB together, whoever gives them to it', async () => {
  const ids = [];
  for (const name of ['one', 'two', 'three']) ids.push((await large(name, 400)).json().id);
  const about = { agent_type: 'assistant', owner: 'o@example.com' };
  const agent = (await call('/api/v1/agents', { token, body: { name: 'a', ...about } })).json();
  const assign = (id: string) =>
    call(`/api/v1/agents/${agent.id}/roles`, { token, body: { role_id: id } });
  expect((await assign(ids[0])).statusCode).toBe(200);
  expect((await assign(ids[1])).statusCode).toBe(200);
  const refused = await assign(ids[2]);
  expect([refused.statusCode, refused.json().detail]).toEqual([
    422,
    'body.role_id: the roles of one agent may hold 1 MiB together',
  ]);
  const { roles } = (await call(`/api/v1/agents/${agent.id}`, { token })).json();
  expect(roles).toHaveLength(2);
  // One that it has already is given again.
  expect((await assign(ids[0])).statusCode).toBe(200);

  const issue = (role_ids: string[]) =>
    call('/api/v1/admin/enrollment-tokens', { token, body: { label: 'site', role_ids } });
  expect((await issue(ids.slice(1))).statusCode).toBe(201);
  expect((await issue(ids)).statusCode).toBe(422);
});

it('a tenant’s roles hold 16 MiB together, also where several come at once', async () => {
  await test.superuser.query(
    `INSERT INTO roles (tenant_id, id, name, permissions)
     SELECT $1, gen_random_uuid(), 'large ' || n, ARRAY[repeat('x', 1040000) || ':read']
     FROM generate_series(1, 16) AS n`,
    [tenantId],
  );
  const statuses = (await Promise.all([large('a', 100), large('b', 100)])).map(
    (answer) => answer.statusCode,
  );
  expect(statuses.sort()).toEqual([201, 422]);
  expect((await large('c', 100)).json().detail).toBe(
    "body.permissions: the tenant's roles may hold 16 MiB together",
  );
  expect((await create(READER)).statusCode).toBe(201);
});
