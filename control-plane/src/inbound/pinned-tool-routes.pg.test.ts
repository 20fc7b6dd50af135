/** Changed tools: data planes tell of them by real batches, an administrator approves them. */
import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { BUNDLE_MEMBERS, BundleData } from '@governance/shared/bundle/bundle-format';
import { encodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { uuidv7 } from '@governance/shared/ids';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { MAX_PINS } from '@governance/shared/settings/inbound-settings';
import { expect, it } from 'vitest';
import { createWriter } from '../../../tests/support/a-data-plane.ts';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, controlPlane, aTenantAdmin, test } = await testControlPlane();

const [FIRST, SECOND, THIRD] = ['11', '22', '33'].map((two) => two.repeat(32)) as [
  string,
  string,
  string,
];

const TIME = expect.any(String);

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
  const beat = async (...tool_pins: object[]) => {
    const answer = await call(`/api/v1/data-planes/${deploymentId}/heartbeat`, {
      token: own.token,
      body: {
        deployment_id: deploymentId,
        active_agent_count: 1,
        proxy_rpm_1m: 0,
        escalations_pending: 0,
        opa_bundle_version: 'none',
        uptime_seconds: 1,
        tool_pins,
      },
    });
    expect(answer.statusCode, answer.body).toBe(200);
  };
  const TOOLS = '/api/v1/mcp-servers/up/tools';
  return {
    token,
    tenantId: scope.tenantId,
    plane,
    ship,
    beat,
    tell: (over: object) => plane.append(aChange(over)),
    list: async (query = '') => (await call(`${TOOLS}${query}`, { token })).json(),
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
  const { tenantId, list, approve, tell, ship, pins } = await start();
  expect(await list()).toEqual({ tools: [], total: 0 });
  tell({});
  await ship();
  const changed = {
    name: 'read/page',
    status: 'changed',
    pinned_hash: FIRST,
    seen_hash: SECOND,
    changed: ['description'],
    difference: [],
    first_seen_at: '2026-03-01T10:00:00.000Z',
    changed_at: expect.any(String),
    may_vary: false,
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
    pins: [{ server_id: 'up', tool_name: 'read/page', hash: SECOND, approved_at: TIME }],
  });
  expect((await approve('read/page')).statusCode).toBe(409);

  // What is approved stays the pin, whatever another data plane saw first.
  tell({ pinned_hash: THIRD, seen_hash: THIRD });
  await ship();
  expect(await list()).toMatchObject({
    tools: [{ status: 'changed', pinned_hash: SECOND, seen_hash: THIRD }],
  });
  expect((await approve('read/page')).json()).toMatchObject({ pinned_hash: THIRD });

  // Data planes follow the last approval by its time, also after one of while the clock was ahead.
  const ahead = new Date('2999-01-01T00:00:00.000Z');
  await test.superuser.query('UPDATE pinned_tools SET approved_at = $2 WHERE tenant_id = $1', [
    tenantId,
    ahead,
  ]);
  const varies = (await approve('read/page', { may_vary: true })).json();
  expect(varies).toMatchObject({ approved_at: '2999-01-01T00:00:00.001Z' });
});

it('keeps nothing about unknown servers or from alerts of other kinds', async () => {
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
  expect((await approve('read', { may_vary: 'yes' })).statusCode).toBe(422);
  expect((await approve('r'.repeat(257))).statusCode).toBe(404);
});

it('is asked for by a setting', async () => {
  const { token, pins } = await start();
  const body = { pinned_tools: { require_approval: true } };
  const answer = await call('/api/v1/admin/settings', { token, method: 'PATCH', body });
  expect(answer.json()).toMatchObject(body);
  expect(await pins()).toEqual({ require_approval: true, pins: [] });
});

const DIFFERENCE = [{ member: 'description', before: '"Reads."', after: '"Sends."' }];
const aPin = (over: object = {}) => ({
  server_id: 'up',
  tool_name: 'read',
  pinned_hash: FIRST,
  first_seen_at: '2026-03-01T10:00:00.000Z',
  seen_at: '2026-03-01T10:00:00.000Z',
  ...over,
});
const aChangedPin = (seen_at: string, over: object = {}) =>
  aPin({ seen_hash: SECOND, seen_at, changed: ['description'], difference: DIFFERENCE, ...over });

it('lists every tool that a data plane has seen, in pages, and keeps no others', async () => {
  const { list, beat, pins } = await start();
  await beat(aPin(), aPin({ tool_name: 'a' }), aPin({ tool_name: 'b' }), aPin({ server_id: 'no' }));
  const answer = await list();
  expect(answer.tools.map(({ name }: { name: string }) => name)).toEqual(['a', 'b', 'read']);
  expect(answer.tools[2]).toEqual({
    name: 'read',
    status: 'pinned',
    pinned_hash: FIRST,
    seen_hash: FIRST,
    changed: [],
    difference: [],
    first_seen_at: '2026-03-01T10:00:00.000Z',
    changed_at: null,
    may_vary: false,
    approved_by: null,
    approved_at: null,
  });
  expect(await list('?limit=1&offset=1')).toMatchObject({ tools: [{ name: 'b' }], total: 3 });
  expect((await list('?limit=4001')).detail).toEqual(expect.any(String));
  expect((await pins())?.pins).toEqual([]);
  // Unreadable reports stop no heartbeat, and the same ones say nothing new.
  await beat(aPin({ pinned_hash: 'x' }));
  await beat(aPin(), aPin());
  expect(await list()).toEqual(answer);
});

it('leaves out reports of the year 0, which no store can hold, and takes the heartbeat', async () => {
  const { beat, tell, ship, list } = await start();
  const report = { server_id: 'up', tool_name: 'read', pinned_hash: FIRST };
  const [zero, first] = ['0000-12-31T23:59:59.999Z', '0001-01-01T00:00:00.000Z'];
  await beat({ ...report, first_seen_at: zero, seen_at: first });
  await beat({ ...report, first_seen_at: first, seen_at: zero });
  tell({ first_seen_at: zero });
  tell({ seen_at: zero });
  await ship();
  expect(await list()).toEqual({ tools: [], total: 0 });
  await beat({ ...report, first_seen_at: first, seen_at: first });
  expect((await list()).total).toBe(1);
});

it('keeps the newest report, in whatever order reports come, by heartbeat and by alert', async () => {
  const { list, beat, tell, ship } = await start();
  await beat(aPin());
  await beat(aChangedPin('2026-03-02T10:00:00.000Z'));
  expect(await list()).toMatchObject({
    tools: [
      {
        status: 'changed',
        pinned_hash: FIRST,
        seen_hash: SECOND,
        changed: ['description'],
        difference: DIFFERENCE,
        changed_at: '2026-03-02T10:00:00.000Z',
      },
    ],
  });
  // Back to what it was, then changed again within the same minute: the alert comes last, and late.
  await beat(aPin({ seen_at: '2026-03-02T10:00:02.000Z' }));
  tell({ tool_name: 'read', seen_at: '2026-03-02T10:00:01.000Z' });
  await ship();
  expect(await list()).toMatchObject({ tools: [{ status: 'pinned', difference: [] }] });
  tell({ tool_name: 'read', seen_at: '2026-03-02T10:00:03.000Z', difference: DIFFERENCE });
  await ship();
  expect(await list()).toMatchObject({ tools: [{ status: 'changed', difference: DIFFERENCE }] });
  await beat(aPin());
  expect(await list()).toMatchObject({ tools: [{ status: 'changed' }] });
  // A clock that is ahead keeps nothing newer out for ever.
  await beat(aPin({ seen_at: '2999-01-01T00:00:00.000Z' }));
  const [{ status }] = (await list()).tools;
  expect(status).toBe('pinned');
  await beat(aChangedPin(new Date(Date.now() + 1_000).toISOString()));
  expect(await list()).toMatchObject({ tools: [{ status: 'changed' }] });
});

it('builds a bundle of a change, so that other data planes hold the tool to the same', async () => {
  const { beat, pins, list, approve } = await start();
  await beat(aPin());
  expect((await pins())?.pins).toEqual([]);
  // Another data plane saw something else first.
  await beat(aPin({ pinned_hash: THIRD, seen_at: '2026-03-02T10:00:00.000Z' }));
  await expect
    .poll(async () => (await pins())?.pins, { timeout: 10_000 })
    .toEqual([{ server_id: 'up', tool_name: 'read', hash: FIRST }]);
  expect(await list()).toMatchObject({
    tools: [{ status: 'changed', pinned_hash: FIRST, seen_hash: THIRD }],
  });
  expect((await approve('read')).statusCode).toBe(200);
  expect((await pins())?.pins).toEqual([
    { server_id: 'up', tool_name: 'read', hash: THIRD, approved_at: TIME },
  ]);
});

it('still shows how a tool changed after a data plane saw it that knows only what it is now', async () => {
  const { beat, list, tell, ship } = await start();
  const difference = [{ member: 'description', before: '"a"', after: '"b"' }];
  const [day, next] = ['2026-03-01T10:00:00.000Z', '2026-03-02T10:00:00.000Z'];
  const at = (seen_at: string) => ({
    server_id: 'up',
    tool_name: 'x',
    first_seen_at: day,
    seen_at,
  });
  const shown = { status: 'changed', pinned_hash: FIRST, seen_hash: SECOND };
  const how = { changed: ['description'], difference };
  await beat({ ...at(day), pinned_hash: FIRST, seen_hash: SECOND, ...how });
  await beat({ ...at(next), pinned_hash: SECOND });
  expect(await list()).toMatchObject({ tools: [{ ...shown, ...how }] });
  // It was told the pin since, but not what the tool was.
  await beat({ ...at(next), pinned_hash: FIRST, seen_hash: SECOND, changed: [], difference: [] });
  tell({ tool_name: 'x', seen_at: next, changed: [] });
  await ship();
  expect(await list()).toMatchObject({ tools: [{ ...shown, ...how }] });
  await beat({ ...at('2026-03-03T10:00:00.000Z'), pinned_hash: FIRST, seen_hash: THIRD });
  expect(await list()).toMatchObject({
    tools: [{ seen_hash: THIRD, changed: [], difference: [] }],
  });
});

it('an alert from the future keeps no later report out', async () => {
  const { beat, list, plane, ship, approve } = await start();
  await beat(aPin());
  const future = '2099-01-01T00:00:00.000Z';
  plane.append({ ...aChange({ tool_name: 'read', seen_at: future }), timestamp: future });
  await ship();
  expect(await list()).toMatchObject({ tools: [{ seen_hash: SECOND }] });
  await beat(aChangedPin(new Date(Date.now() + 1_000).toISOString(), { seen_hash: THIRD }));
  expect(await list()).toMatchObject({ tools: [{ status: 'changed', seen_hash: THIRD }] });
  expect((await approve('read', { hash: THIRD })).statusCode).toBe(200);
});

it('a report frees a tool whose last one lies ahead, as an earlier version stored it', async () => {
  const { beat, list, tenantId } = await start();
  await beat(aPin());
  await test.superuser.query(
    `UPDATE pinned_tools SET seen_at = '2099-01-01' WHERE tenant_id = $1`,
    [tenantId],
  );
  await beat(aChangedPin(new Date().toISOString()));
  expect(await list()).toMatchObject({ tools: [{ status: 'changed' }] });
});

it('builds a bundle of a change whose alert came before its report', async () => {
  const { beat, tell, ship, pins } = await start();
  await beat(aPin());
  const seen_at = '2026-03-02T10:00:00.000Z';
  tell({ tool_name: 'read', seen_at });
  await ship();
  await beat(aChangedPin(seen_at));
  await expect
    .poll(async () => (await pins())?.pins, { timeout: 10_000 })
    .toEqual([{ server_id: 'up', tool_name: 'read', hash: FIRST }]);
});

it('builds a bundle of a change that an alert stored, though its report brings nothing new', async () => {
  const { beat, pins, tenantId } = await start();
  await beat(aPin({ seen_hash: FIRST }));
  await test.superuser.query(
    `UPDATE pinned_tools SET seen_hash = $2, changed_at = seen_at WHERE tenant_id = $1`,
    [tenantId, SECOND],
  );
  await beat(aChangedPin('2026-03-01T10:00:00.000Z'));
  await expect
    .poll(async () => (await pins())?.pins, { timeout: 10_000 })
    .toEqual([{ server_id: 'up', tool_name: 'read', hash: FIRST }]);
});

/** Tools that were seen long before those of the tests, `approved` or only changed. */
const seed = (tenantId: string, count: number, isApproved: boolean) =>
  test.superuser.query(
    `INSERT INTO pinned_tools (tenant_id, server_id, tool_name, pinned_hash, seen_hash,
       first_seen_at, changed_at, approved_at)
     SELECT $1, 'up', 'tool ' || n, $3, $3, '2020-01-01', '2020-01-01', $4::timestamptz
     FROM generate_series(1, $2::int) AS n`,
    [tenantId, count, FIRST, isApproved ? '2020-01-01' : null],
  );

it('has every approved tool in the bundle, and those of a small server beside a large one', async () => {
  const { token, tenantId, beat, pins, approve } = await start();
  const url = 'https://second.example.com/mcp';
  const server = { server_id: 'second', transport: 'streamable-http', url };
  expect((await call('/api/v1/mcp-servers', { token, body: server })).statusCode).toBe(201);
  await seed(tenantId, MAX_PINS, false);
  await beat(aChangedPin(new Date().toISOString(), { server_id: 'second' }), aPin());
  expect((await approve('read', { may_vary: true })).statusCode).toBe(200);
  const built = (await pins())?.pins;
  expect(built).toHaveLength(MAX_PINS);
  expect(built?.slice(0, 2)).toEqual([
    { server_id: 'up', tool_name: 'read', hash: FIRST, varies: true, approved_at: TIME },
    { server_id: 'second', tool_name: 'read', hash: FIRST },
  ]);
});

it('refuses an approval that the bundle has no room for', async () => {
  const { tenantId, beat, list, approve } = await start();
  await seed(tenantId, MAX_PINS, true);
  await beat(aPin(), aChangedPin(new Date().toISOString()));
  const answer = await approve('read');
  expect(answer.statusCode).toBe(409);
  expect(answer.json().detail).toContain('remove an MCP server');
  expect((await list('?limit=1')).tools).toMatchObject([{ name: 'read', approved_by: null }]);
  // What is approved already may be approved anew.
  expect((await approve('tool 1', { may_vary: true })).statusCode).toBe(200);
});

it('says of a tool that it varies, and lets an administrator approve whatever it is', async () => {
  const { beat, pins, list, approve } = await start();
  const at = new Date().toISOString();
  await beat(aPin(), aPin({ tool_name: 'calm', varies: true }));
  await beat(aPin({ seen_at: at, varies: true }));
  expect(await list()).toMatchObject({
    // It has been the same for more than a day.
    tools: [
      { name: 'calm', status: 'pinned' },
      { name: 'read', status: 'varies', pinned_hash: FIRST, seen_hash: FIRST },
    ],
  });
  expect((await approve('calm')).statusCode).toBe(409);
  // It waits, although its definition is the pinned one.
  expect((await approve('read')).json()).toMatchObject({
    status: 'pinned',
    approved_by: expect.any(String),
  });
  expect((await approve('read')).statusCode).toBe(409);
  const answer = await approve('read', { may_vary: true });
  expect(answer.json()).toMatchObject({ status: 'pinned', may_vary: true });
  expect((await pins())?.pins).toEqual([
    { server_id: 'up', tool_name: 'read', hash: FIRST, varies: true, approved_at: TIME },
  ]);
  expect((await approve('read', { may_vary: true })).statusCode).toBe(409);
  expect((await approve('read')).json()).toMatchObject({ may_vary: false });
  expect((await pins())?.pins).toEqual([
    { server_id: 'up', tool_name: 'read', hash: FIRST, approved_at: TIME },
  ]);
});
