import { describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/test-control-plane.ts';

const { call, aTenantAdmin, controlPlane, logged } = await testControlPlane();

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

  it('brings a change to the bundle before it answers', async () => {
    const { token, scope } = await aTenantAdmin();
    await call(URL, { token, body: STDIO });
    const first = await controlPlane.bundleSource.findCurrent(scope.tenantId);
    await call(`${URL}/files`, { token, method: 'PATCH', body: { local_name: 'other' } });
    const second = await controlPlane.bundleSource.findCurrent(scope.tenantId);
    expect(second?.revision).toBeGreaterThan(first?.revision ?? Number.MAX_SAFE_INTEGER);
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
