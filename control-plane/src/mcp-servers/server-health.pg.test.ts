import type { ServerReport } from '@governance/shared/channel/channels';
import { beforeEach, expect, it } from 'vitest';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

let now = new Date('2026-03-01T12:00:00.000Z');
const { call, aTenantAdmin, superAdminToken, controlPlane } = await testControlPlane({
  now: () => now,
});

const URL = '/api/v1/mcp-servers';
const TOKENS = '/api/v1/admin/data-plane-tokens';
type Admin = Awaited<ReturnType<typeof aTenantAdmin>>;
let admin: Admin;

beforeEach(async () => {
  admin = await aTenantAdmin();
  await addServers(admin);
});

async function addServers({ token }: Admin): Promise<void> {
  for (const server_id of ['one', 'two', 'unasked']) {
    const body = { server_id, transport: 'streamable-http', url: `https://${server_id}.example` };
    expect((await call(URL, { token, body })).statusCode).toBe(201);
  }
}

interface TestPlane {
  id: string;
  /** Of its root, which ends it. */
  tokenId: string;
  beat(report?: unknown): Promise<number>;
}

async function aPlane({ token }: Admin, label: string): Promise<TestPlane> {
  const issued = (await call(TOKENS, { token, body: { label } })).json();
  const registered = await call('/api/v1/data-planes/register', {
    token: issued.token,
    body: aRegistration({ label }).provenWith(issued.token),
  });
  expect(registered.statusCode, registered.body).toBe(200);
  const { deployment_id: id, token: own } = registered.json();
  const beat = async (mcp_servers?: unknown) => {
    const body = {
      deployment_id: id,
      active_agent_count: 0,
      proxy_rpm_1m: 0,
      escalations_pending: 0,
      opa_bundle_version: '1',
      uptime_seconds: 1,
      mcp_servers,
    };
    const path = `/api/v1/data-planes/${id}/heartbeat`;
    return (await call(path, { token: own.token, body })).statusCode;
  };
  return { id, tokenId: issued.id, beat };
}

const report = (over: Partial<ServerReport>): ServerReport => ({
  resting: [],
  failing: [],
  ok: [],
  ...over,
});

interface Shown {
  server_id: string;
  health: string | null;
  health_by: {
    total: number;
    data_planes: { deployment_id: string; label: string; health: string; reason: string | null }[];
  };
}

async function shown({ token }: Admin): Promise<Shown[]> {
  const answer = await call(URL, { token });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json().mcp_servers;
}

const healthOf = async (of: Admin = admin) => (await shown(of)).map(({ health }) => health);

it('shows the worst that data planes found, and which ones', async () => {
  const [east, west] = [await aPlane(admin, 'east'), await aPlane(admin, 'west')];
  await east.beat(report({ ok: ['one', 'two'] }));
  await west.beat(report({ resting: ['one'], failing: ['two'], ok: ['removed-meanwhile'] }));
  const found = (plane: TestPlane, label: string, health: string) => ({
    deployment_id: plane.id,
    label,
    health,
    reason: null,
  });
  const [one, two, unasked] = await shown(admin);
  expect(one).toMatchObject({
    server_id: 'one',
    health: 'resting',
    health_by: {
      total: 2,
      data_planes: [found(west, 'west', 'resting'), found(east, 'east', 'ok')],
    },
  });
  expect(two).toMatchObject({
    health: 'failing',
    health_by: { data_planes: [found(west, 'west', 'failing'), found(east, 'east', 'ok')] },
  });
  expect(unasked).toMatchObject({ health: null, health_by: { total: 0, data_planes: [] } });
  // One by itself, and what is answered to a change, say the same.
  const { token } = admin;
  expect((await call(`${URL}/one`, { token })).json()).toEqual(one);
  const body = { enabled: true };
  const patched = await call(`${URL}/two`, { token, method: 'PATCH', body });
  expect(patched.json()).toMatchObject({ health: 'failing', health_by: two?.health_by });

  await west.beat(report({ ok: ['one', 'two'] }));
  expect(await healthOf()).toEqual(['ok', 'ok', null]);
});

it('shows why a data plane finds a server as it does, where it says so', async () => {
  const [east, west] = [await aPlane(admin, 'east'), await aPlane(admin, 'west')];
  const reasons = { one: 'connect ECONNREFUSED', two: '3 tools are left out', absent: 'x' };
  await east.beat(report({ failing: ['one'], ok: ['two'], reasons }));
  await west.beat(report({ ok: ['one'] }));
  const [one, two] = await shown(admin);
  expect(one?.health_by.data_planes.map(({ label, reason }) => [label, reason])).toEqual([
    ['east', 'connect ECONNREFUSED'],
    ['west', null],
  ]);
  expect([two?.health, two?.health_by.data_planes[0]?.reason]).toEqual([
    'ok',
    '3 tools are left out',
  ]);
});

it('counts no data plane that is silent, was revoked or forked, or that tells nothing', async () => {
  const plane = await aPlane(admin, 'well');
  const others = {
    silent: await aPlane(admin, 'silent'),
    rootless: await aPlane(admin, 'rootless'),
    forked: await aPlane(admin, 'forked'),
    older: await aPlane(admin, 'older'),
  };
  for (const other of Object.values(others)) {
    expect(await other.beat(report({ resting: ['one'] }))).toBe(200);
  }
  const total = async () => (await shown(admin))[0]?.health_by.total;
  expect([await total(), await healthOf()]).toEqual([4, ['resting', null, null]]);

  // An older version sends the fields of the specification alone, and takes back what it told.
  expect(await others.older.beat()).toBe(200);
  expect(await total()).toBe(3);
  const { token } = admin;
  await call(`${TOKENS}/${others.rootless.tokenId}`, { token, method: 'DELETE' });
  expect(await total()).toBe(2);
  await controlPlane.dataPlanes.markForked(admin.scope.tenantId, others.forked.id);
  expect(await total()).toBe(1);
  const began = now;
  now = new Date(began.getTime() + 179_999);
  expect(await total()).toBe(1);
  now = new Date(began.getTime() + 180_000);
  expect(await total()).toBe(0);
  await plane.beat(report({ ok: ['one'] }));
  expect([await total(), await healthOf()]).toEqual([1, ['ok', null, null]]);
  now = began;
});

it('shows a tenant nothing of what another one’s data planes found', async () => {
  const other = await aTenantAdmin();
  await addServers(other);
  const [mine, theirs] = [await aPlane(admin, 'mine'), await aPlane(other, 'theirs')];
  await mine.beat(report({ ok: ['one', 'two', 'unasked'] }));
  await theirs.beat(report({ resting: ['one'] }));
  expect(await healthOf()).toEqual(['ok', 'ok', 'ok']);
  expect(await healthOf(other)).toEqual(['resting', null, null]);
  expect(JSON.stringify(await shown(admin))).not.toContain(theirs.id);
  expect(JSON.stringify(await shown(other))).not.toContain(mine.id);
  // Nor does a data plane speak for another tenant's, or a super-admin see more than the one asked for.
  const headers = { 'x-tenant-id': other.scope.tenantId };
  const seen = await call(URL, { token: await superAdminToken(), headers });
  expect(seen.json().mcp_servers).toEqual(await shown(other));
});

it('names twenty data planes of many, the worst first', async () => {
  const planes = await Promise.all(
    Array.from({ length: 22 }, (_, i) => aPlane(admin, `plane-${String(i).padStart(2, '0')}`)),
  );
  for (const [i, plane] of planes.entries()) {
    // Told twice by mistake, it counts at its worst.
    await plane.beat(report({ ok: ['one', 'one'], failing: i === 21 ? ['one'] : [] }));
  }
  const [one] = await shown(admin);
  expect([one?.health, one?.health_by.total]).toEqual(['failing', 22]);
  const labels = one?.health_by.data_planes.map(({ label }) => label);
  expect(labels).toHaveLength(20);
  expect(labels?.slice(0, 3)).toEqual(['plane-21', 'plane-00', 'plane-01']);
});

it('takes a state that it does not know yet for none', async () => {
  const plane = await aPlane(admin, 'newer');
  expect(await plane.beat({ ok: ['one'], draining: ['two'] })).toBe(200);
  expect(await healthOf()).toEqual(['ok', null, null]);
});

it.each<[string, unknown]>([
  ['a text', 'ok'],
  ['a list', ['one']],
  ['an id that is no text', { ok: [1] }],
  ['an id with a NUL', { ok: ['a\u0000'] }],
  ['a reason that is no text', { reasons: { one: 1 } }],
  ['a reason that is too long', { reasons: { one: 'x'.repeat(201) } }],
  [
    'more reasons than are taken',
    { reasons: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`s${i}`, 'x'])) },
  ],
  ['more servers than a tenant has', { ok: Array(501).fill('a') }],
])('refuses %s as a report', async (_, wrong) => {
  const plane = await aPlane(admin, 'wrong');
  expect(await plane.beat(wrong)).toBe(422);
});
