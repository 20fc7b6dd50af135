/** Changed tools: data planes tell of them by real batches, an administrator approves them. */
import { unpackArchive } from '@governance/shared/bundle-archive';
import { BUNDLE_MEMBERS, BundleData } from '@governance/shared/bundle-format';
import { encodeBatch, NDJSON } from '@governance/shared/channel-routes';
import { uuidv7 } from '@governance/shared/ids';
import type { UnchainedRecord } from '@governance/shared/ledger-record';
import { expect, it } from 'vitest';
import { createWriter } from '../../../tests/support/a-data-plane.ts';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, controlPlane, aTenantAdmin } = await testControlPlane();

const [FIRST, SECOND, THIRD] = ['11', '22', '33'].map((two) => two.repeat(32)) as [
  string,
  string,
  string,
];

/** A tenant with a server `up`, and a data plane of it. */
async function start() {
  const { token, scope } = await aTenantAdmin();
  const url = 'https://up.example.com/mcp';
  const server = { server_id: 'up', transport: 'streamable-http', url };
  expect((await call('/api/v1/mcp-servers', { token, body: server })).statusCode).toBe(201);
  const issued = await call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'x' } });
  const root: string = issued.json().token;
  const keys = aRegistration();
  const body = keys.provenWith(root);
  const answer = await call('/api/v1/data-planes/register', { token: root, body });
  const { deployment_id: deploymentId, token: own } = answer.json();
  const plane = createWriter(scope.tenantId, deploymentId, keys.signingKey);
  plane.boot();
  let shipped = 0;
  const ship = async () => {
    const batch = await call(`/api/v1/data-planes/${deploymentId}/audit-batches`, {
      token: own.token,
      body: encodeBatch(plane.batch(shipped)),
      headers: { 'content-type': NDJSON },
    });
    expect(batch.statusCode, batch.body).toBe(200);
    shipped = plane.records.length;
  };
  const TOOLS = '/api/v1/mcp-servers/up/tools';
  return {
    token,
    plane,
    ship,
    tell: (over: object) => plane.append(aChange(over)),
    list: async () => (await call(TOOLS, { token })).json(),
    approve: (tool: string, approval?: object) =>
      call(`${TOOLS}/${encodeURIComponent(tool)}/approve`, {
        token,
        method: 'POST',
        ...(approval && { body: approval }),
      }),
    pins: async () => {
      const bundle = await controlPlane.bundleSource.findCurrent(scope.tenantId);
      const files = await unpackArchive(bundle?.bytes ?? new Uint8Array());
      const data = Buffer.from(files.get(BUNDLE_MEMBERS.data) ?? []).toString('utf8');
      return BundleData.parse(JSON.parse(data)).settings.inbound?.pinned_tools;
    },
  };
}

const aChange = (details: object): UnchainedRecord => ({
  type: 'alert',
  id: uuidv7(),
  timestamp: new Date().toISOString(),
  bundle_revision: null,
  alert_type: 'TOOL_DEFINITION_CHANGED',
  severity: 'high',
  agent_id: null,
  title: 'A tool says something else of itself',
  details: {
    mcp_server: 'up',
    tool_name: 'read/page',
    pinned_hash: FIRST,
    seen_hash: SECOND,
    first_seen_at: '2026-03-01T10:00:00.000Z',
    changed: ['description'],
    ...details,
  },
  dedupe_key: uuidv7(),
});

it('a changed tool is listed, approved, and pinned to what was seen', async () => {
  const { list, approve, tell, ship, pins } = await start();
  expect(await list()).toEqual({ tools: [], total: 0 });
  tell({});
  await ship();
  const changed = {
    name: 'read/page',
    status: 'changed',
    pinned_hash: FIRST,
    seen_hash: SECOND,
    changed: ['description'],
    first_seen_at: '2026-03-01T10:00:00.000Z',
    changed_at: expect.any(String),
    approved_by: null,
    approved_at: null,
  };
  expect(await list()).toEqual({ tools: [changed], total: 1 });

  expect((await approve('read/page', { hash: FIRST })).statusCode).toBe(409);
  const answer = await approve('read/page', { hash: SECOND });
  expect(answer.statusCode, answer.body).toBe(200);
  const approved = {
    ...changed,
    status: 'pinned',
    pinned_hash: SECOND,
    changed: [],
    approved_by: expect.any(String),
    approved_at: expect.any(String),
  };
  expect(answer.json()).toEqual(approved);
  expect(await pins()).toEqual({
    require_approval: false,
    pins: [{ server_id: 'up', tool_name: 'read/page', hash: SECOND }],
  });
  expect((await approve('read/page')).statusCode).toBe(409);

  // What is approved stays the pin, whatever another data plane saw first.
  tell({ pinned_hash: THIRD, seen_hash: THIRD });
  await ship();
  expect(await list()).toMatchObject({
    tools: [{ status: 'changed', pinned_hash: SECOND, seen_hash: THIRD }],
  });
  expect((await approve('read/page')).json()).toMatchObject({ pinned_hash: THIRD });
});

it('keeps nothing of servers that are not there, nor of alerts of other kinds', async () => {
  const { list, tell, ship, approve } = await start();
  tell({ mcp_server: 'gone' });
  tell({ seen_hash: 'no hash' });
  tell({ pinned_hash: undefined });
  await ship();
  expect(await list()).toEqual({ tools: [], total: 0 });
  expect((await approve('read/page')).statusCode).toBe(404);
});

it('is the tenant’s own, and goes with its server', async () => {
  const { list, tell, ship, token } = await start();
  tell({});
  await ship();
  const other = await start();
  expect(await other.list()).toEqual({ tools: [], total: 0 });
  expect((await other.approve('read/page')).statusCode).toBe(404);
  const gone = await call('/api/v1/mcp-servers/none/tools', { token });
  expect(gone.statusCode).toBe(404);
  const deleted = await call('/api/v1/mcp-servers/up', { token, method: 'DELETE' });
  expect(deleted.statusCode, deleted.body).toBe(204);
  expect((await list()).detail).toEqual(expect.any(String));
});

it('refuses what is no approval', async () => {
  const { approve } = await start();
  expect((await approve('read', { hash: 'x' })).statusCode).toBe(422);
  expect((await approve('read', { more: 1 })).statusCode).toBe(422);
  expect((await approve('r'.repeat(257))).statusCode).toBe(404);
});

it('is asked for by a setting', async () => {
  const { token, pins } = await start();
  const body = { pinned_tools: { require_approval: true } };
  const answer = await call('/api/v1/admin/settings', { token, method: 'PATCH', body });
  expect(answer.json()).toMatchObject(body);
  expect(await pins()).toEqual({ require_approval: true, pins: [] });
});
