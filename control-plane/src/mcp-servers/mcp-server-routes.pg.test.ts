import { describe, expect, it } from 'vitest';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { MAX_TOOL_ACTIONS_OF_TENANT, readServerSettings } from './mcp-server-service.ts';

/** What the data plane of the same process lets a tenant use; undefined where there is none. */
let stdioNames: Record<string, string[]> | undefined;

const { call, aColleague, aTenantAdmin, controlPlane, logged, test } = await testControlPlane({
  listStdioNames: (tenantId) => stdioNames && (stdioNames[tenantId] ?? []),
});

const URL = '/api/v1/mcp-servers';
const SECRET = 'an-upstream-secret-0123456789';
const HTTP = { server_id: 'web', transport: 'streamable-http', url: 'https://mcp.example.com/mcp' };
const STDIO = { server_id: 'files', transport: 'stdio', local_name: 'fs' };
const credential = { type: 'bearer', token: SECRET };

describe('/api/v1/mcp-servers', () => {
  it('registers, lists, changes and removes servers, and never shows a credential', async () => {
    const { token } = await aTenantAdmin();
    const created = await call(URL, { token, body: { ...HTTP, credential } });
    expect(created.statusCode).toBe(201);
    const web = {
      ...HTTP,
      local_name: null,
      enabled: true,
      tool_actions: {},
      credential_configured: true,
      credential_hint: '…6789',
      health: null,
      health_by: { total: 0, data_planes: [] },
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    };
    expect(created.json()).toEqual(web);
    const stdio = (await call(URL, { token, body: STDIO })).json();
    expect(stdio).toMatchObject({ ...STDIO, url: null, credential_configured: false });
    const list = await call(URL, { token });
    expect(list.json()).toEqual({ mcp_servers: [stdio, web], total: 2 });
    const patched = await call(`${URL}/web`, {
      token,
      method: 'PATCH',
      body: { enabled: false, credential: { type: 'header', name: 'X-Api-Key', value: SECRET } },
    });
    expect(patched.json()).toMatchObject({ enabled: false, credential_configured: true });
    const one = await call(`${URL}/web`, { token });
    expect(one.json()).toEqual(patched.json());
    for (const answer of [created, list, patched, one]) expect(answer.body).not.toContain(SECRET);
    expect(logged.join('')).not.toContain(SECRET);

    const removed = await call(`${URL}/web`, { token, method: 'DELETE' });
    expect([removed.statusCode, removed.body]).toEqual([204, '']);
    expect((await call(`${URL}/web`, { token })).statusCode).toBe(404);
  });

  it('shows the query of an address, which may hold a key, to no role that only reads', async () => {
    const { token, scope } = await aTenantAdmin();
    const url = 'https://mcp.example.com/mcp?api_key=a-key-of-the-server';
    const created = await call(URL, { token, body: { ...HTTP, url } });
    expect(created.json().url).toBe(url);
    await call(URL, { token, body: STDIO });
    expect((await call(`${URL}/web`, { token })).json().url).toBe(url);
    for (const role of ['auditor', 'approver'] as const) {
      const { token: reader } = await aColleague(scope, role);
      const one = await call(`${URL}/web`, { token: reader });
      expect(one.json().url).toBe(HTTP.url);
      const list = await call(URL, { token: reader });
      const urls = list.json().mcp_servers.map((server: { url: string | null }) => server.url);
      expect(urls).toEqual([null, HTTP.url]);
    }
  });

  it('brings a change to the bundle before it answers', async () => {
    const { token, scope } = await aTenantAdmin();
    await call(URL, { token, body: STDIO });
    const first = await controlPlane.bundleSource.findCurrent(scope.tenantId);
    await call(`${URL}/files`, { token, method: 'PATCH', body: { local_name: 'other' } });
    const second = await controlPlane.bundleSource.findCurrent(scope.tenantId);
    expect(second?.revision).toBeGreaterThan(first?.revision ?? Number.MAX_SAFE_INTEGER);
  });

  it('says what tools do: shown, recorded, and sent to data planes with its own id', async () => {
    const { token, scope } = await aTenantAdmin();
    const settingOf = async () => {
      const settings = await controlPlane.db.inTenant(scope, readServerSettings);
      return settings.web?.tool_actions;
    };
    const tool_actions = { git_status: 'read', 'a.b': 'delete' };
    const created = await call(URL, { token, body: { ...HTTP, tool_actions } });
    expect([created.statusCode, created.json().tool_actions]).toEqual([201, tool_actions]);
    const first = await settingOf();
    expect(first).toMatchObject({ git_status: { action: 'read' }, 'a.b': { action: 'delete' } });
    const patch = (body: object) => call(`${URL}/web`, { token, method: 'PATCH', body });
    // What does not name them leaves them, with their ids.
    expect((await patch({ enabled: true })).json().tool_actions).toEqual(tool_actions);
    expect(await settingOf()).toEqual(first);
    // Saying it again is said of the definition of now.
    await patch({ tool_actions: { git_status: 'read' } });
    const second = await settingOf();
    expect(Object.keys(second ?? {})).toEqual(['git_status']);
    expect(second?.git_status?.set_id.localeCompare(first?.git_status?.set_id ?? '')).toBe(1);
    expect((await patch({ tool_actions: null })).json().tool_actions).toEqual({});
    expect(await settingOf()).toBeUndefined();

    const { rows } = await test.superuser.query(
      `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action' ORDER BY seq`,
      [scope.tenantId],
    );
    const said = rows
      .map(({ bytes }) => JSON.parse(bytes.toString()))
      .filter(({ action }) => action.startsWith('mcp_server_'))
      .map(({ details }) => details.tool_actions);
    expect(said).toEqual([tool_actions, undefined, { git_status: 'read' }, {}]);
  });

  it.each([
    ['no action', { git_status: 'look' }],
    ['no name', { '': 'read' }],
    ['too many', Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`t${i}`, 'read']))],
    ['no object', ['read']],
    [
      'more than a record of the audit trail holds',
      Object.fromEntries(
        Array.from({ length: 200 }, (_, i) => [`${i}${'\u0001'.repeat(250)}`, 'read']),
      ),
    ],
  ])('refuses tool_actions with %s', async (_, tool_actions) => {
    const { token } = await aTenantAdmin();
    const answer = await call(URL, { token, body: { ...HTTP, tool_actions } });
    expect(answer.statusCode, answer.body).toBe(422);
  });

  it('lets the servers of a tenant name so many tools together, whatever one of them may', async () => {
    const { token, scope } = await aTenantAdmin();
    const naming = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`tool-${i}`, 'read']));
    const name = (id: string, count: number) =>
      call(URL, { token, body: { ...HTTP, server_id: id, tool_actions: naming(count) } });
    expect((await name('first', 200)).statusCode).toBe(201);
    // As 24 more such servers would have them.
    await test.superuser.query(
      `UPDATE mcp_servers SET tool_actions = (SELECT jsonb_object_agg(
         'tool-' || n, tool_actions -> 'tool-0') FROM generate_series(1, $2::int) n)
       WHERE tenant_id = $1`,
      [scope.tenantId, MAX_TOOL_ACTIONS_OF_TENANT - 100],
    );
    const refused = await name('second', 101);
    expect(refused.statusCode).toBe(422);
    expect(refused.json().errors[0].loc).toEqual(['body', 'tool_actions']);
    expect((await name('second', 100)).statusCode).toBe(201);
    const patch = (body: object) => call(`${URL}/second`, { token, method: 'PATCH', body });
    expect((await patch({ tool_actions: naming(101) })).statusCode).toBe(422);
    expect((await patch({ tool_actions: naming(99), enabled: false })).statusCode).toBe(200);
  });

  it('has a server_id once in a tenant', async () => {
    const { token } = await aTenantAdmin();
    const other = await aTenantAdmin();
    await call(URL, { token, body: STDIO });
    const again = await call(URL, { token, body: STDIO });
    expect([again.statusCode, again.json()]).toEqual([
      409,
      { detail: 'Another MCP server has this server_id.' },
    ]);
    expect((await call(URL, { token: other.token, body: STDIO })).statusCode).toBe(201);
  });

  it.each<[string, object]>([
    ['server_id', { ...HTTP, server_id: 'a__b' }],
    ['transport', { ...HTTP, transport: 'sse' }],
    ['url', { ...HTTP, url: 'not a url' }],
    ['url', { server_id: 'web', transport: 'streamable-http' }],
    ['command', { ...STDIO, command: 'sh' }],
    ['local_name', { ...STDIO, local_name: '../x' }],
    ['credential', { ...STDIO, credential }],
    ['credential', { ...HTTP, credential: { type: 'basic' } }],
    ['credential', { ...HTTP, credential: { type: 'bearer', token: 'a\nb' } }],
  ])('refuses a wrong %s', async (field, body) => {
    const { token } = await aTenantAdmin();
    const answer = await call(URL, { token, body });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().errors[0].loc).toContain(field);
    expect((await call(URL, { token })).json().total).toBe(0);
  });

  it('refuses the name of a stdio server that is not the tenant’s, and says which are', async () => {
    const [mine, other] = [await aTenantAdmin(), await aTenantAdmin()];
    stdioNames = {
      [mine.scope.tenantId]: ['fs', 'mail'],
      [other.scope.tenantId]: ['their-secret'],
    };
    try {
      const { token } = mine;
      expect((await call(URL, { token, body: STDIO })).statusCode).toBe(201);
      for (const local_name of ['their-secret', 'none']) {
        const errors = [
          {
            loc: ['body', 'local_name'],
            msg: 'no stdio server of this name is available to this tenant; available: fs, mail',
            type: 'custom',
          },
        ];
        const again = { ...STDIO, server_id: 'again', local_name };
        const created = await call(URL, { token, body: again });
        expect([created.statusCode, created.json().errors]).toEqual([422, errors]);
        const body = { local_name };
        const changed = await call(`${URL}/files`, { token, method: 'PATCH', body });
        expect([changed.statusCode, changed.json().errors]).toEqual([422, errors]);
      }
      const body = { local_name: 'mail' };
      const changed = await call(`${URL}/files`, { token, method: 'PATCH', body });
      expect([changed.statusCode, changed.json().local_name]).toEqual([200, 'mail']);
      // One that may name nothing is told so.
      const third = await aTenantAdmin();
      const refused = await call(URL, { token: third.token, body: STDIO });
      expect([refused.statusCode, refused.json().detail]).toEqual([
        422,
        expect.stringMatching(/available: none$/),
      ]);
      // A data plane elsewhere may know more names: it says what it cannot use.
      for (const label of ['local', 'elsewhere']) {
        const path = '/api/v1/admin/data-plane-tokens';
        const issued = (await call(path, { token, body: { label } })).json();
        const registered = await call('/api/v1/data-planes/register', {
          token: issued.token,
          body: aRegistration({ label }).provenWith(issued.token),
        });
        expect(registered.statusCode).toBe(200);
      }
      const elsewhere = { ...STDIO, server_id: 'elsewhere', local_name: 'on-that-host' };
      expect((await call(URL, { token, body: elsewhere })).statusCode).toBe(201);
    } finally {
      stdioNames = undefined;
    }
  });

  it('finds no server of another tenant, and none of an impossible name', async () => {
    const { token } = await aTenantAdmin();
    const other = await aTenantAdmin();
    await call(URL, { token: other.token, body: STDIO });
    for (const path of ['files', 'none', 'a__b', '%00']) {
      for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
        const body = method === 'PATCH' ? { body: { enabled: false } } : {};
        const answer = await call(`${URL}/${path}`, { token, method, ...body });
        expect(answer.statusCode, `${method} ${path}`).toBe(404);
      }
    }
    expect((await call(`${URL}/files`, { token: other.token })).json().enabled).toBe(true);
  });
});
