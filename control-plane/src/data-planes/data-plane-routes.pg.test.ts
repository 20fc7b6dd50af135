import { createHash } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import { beforeEach, describe, expect, it } from 'vitest';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { attestRows } from '../../../tests/support/attested-planes.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

let now = new Date('2026-03-01T12:00:00.000Z');
const { call, aTenantAdmin, superAdminToken, controlPlane, test } = await testControlPlane({
  now: () => now,
});

let token: string;
let tenantId: string;
let scope: Awaited<ReturnType<typeof aTenantAdmin>>['scope'];
beforeEach(async () => {
  ({ token, scope } = await aTenantAdmin());
  ({ tenantId } = scope);
});

const TOKENS = '/api/v1/admin/data-plane-tokens';

async function issue(body: object = { label: 'Frankfurt', region: 'eu-central' }) {
  const answer = await call(TOKENS, { token, body });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
}

const aRequest = () => aRegistration({ region: 'eu-central' }).request;

const register = async (request = aRequest()) =>
  (await controlPlane.dataPlanes.registerLocalDataPlane(scope, request)).deployment_id;

/** One of the deployment's own, as a registration makes it. */
async function tokenOf(deploymentId: string): Promise<string> {
  const issued = await issue();
  await test.superuser.query('UPDATE data_plane_tokens SET deployment_id = $1 WHERE id = $2', [
    deploymentId,
    issued.id,
  ]);
  await attestRows(test, scope, controlPlane.attestedPlanes);
  return issued.token;
}

const aHeartbeat = (deploymentId: string, overrides: object = {}) => ({
  deployment_id: deploymentId,
  active_agent_count: 3,
  proxy_rpm_1m: 12.5,
  escalations_pending: 0,
  opa_bundle_version: '7',
  uptime_seconds: 60.5,
  ...overrides,
});

const beat = (deploymentId: string, given: string | undefined, body?: object) =>
  call(`/api/v1/data-planes/${encodeURIComponent(deploymentId)}/heartbeat`, {
    ...(given === undefined ? {} : { token: given }),
    body: body ?? aHeartbeat(deploymentId),
  });

async function auditActions(): Promise<string[]> {
  const { rows } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
     ORDER BY position`,
    [tenantId],
  );
  return rows.map((row) => JSON.parse(row.bytes.toString()).action);
}

describe('a token', () => {
  it('is issued with its plaintext this once', async () => {
    const issued = await issue({ label: 'Frankfurt', region: 'eu-central', expires_days: 30 });
    expect(issued).toEqual({
      id: expect.any(String),
      label: 'Frankfurt',
      tenant_id: tenantId,
      deployment_id: null,
      root_id: null,
      region: 'eu-central',
      created_at: '2026-03-01T12:00:00.000Z',
      expires_at: '2026-03-31T12:00:00.000Z',
      revoked_at: null,
      token: expect.stringMatching(/^dpt_[A-Za-z0-9_-]{43}$/),
    });
    const { rows } = await test.superuser.query(
      'SELECT token_hash FROM data_plane_tokens WHERE tenant_id = $1',
      [tenantId],
    );
    const hash = createHash('sha256').update(issued.token).digest('hex');
    expect(rows).toEqual([{ token_hash: hash }]);

    const { token: _, ...record } = issued;
    const list = await call(TOKENS, { token });
    expect(list.json()).toEqual({ tokens: [record], total: 1 });
    expect(await auditActions()).toEqual(['data_plane_token_issued']);
  });

  it('is issued by the tenant’s own administrators only', async () => {
    const headers = { 'x-tenant-id': tenantId };
    const body = { label: 'mine', region: 'eu' };
    const answer = await call(TOKENS, { token: await superAdminToken(), body, headers });
    expect(answer.statusCode).toBe(403);
    expect((await call(TOKENS, { token })).json()).toEqual({ tokens: [], total: 0 });
  });

  it('is revoked at once, and only once', async () => {
    const issued = await issue();
    const deploymentId = await register();
    expect((await beat(deploymentId, issued.token)).statusCode).toBe(200);
    const revoke = () => call(`${TOKENS}/${issued.id}`, { token, method: 'DELETE' });
    const answer = await revoke();
    expect(answer.statusCode).toBe(204);
    expect(answer.body).toBe('');

    const refused = await beat(deploymentId, issued.token);
    expect(refused.statusCode).toBe(401);
    expect(refused.json().detail).toContain('revoked');
    const bundle = await call(`/api/v1/opa/bundle/${tenantId}`, { token: issued.token });
    expect(bundle.statusCode).toBe(401);
    const [listed] = (await call(TOKENS, { token })).json().tokens;
    expect(listed.revoked_at).toBe(now.toISOString());

    expect((await revoke()).statusCode).toBe(204);
    expect(await auditActions()).toEqual([
      'data_plane_token_issued',
      'data_plane_registered',
      'data_plane_token_revoked',
    ]);
  });

  it('of another tenant is not found', async () => {
    const issued = await issue();
    const other = await aTenantAdmin();
    const answers = [
      await call(`${TOKENS}/${issued.id}`, { token: other.token, method: 'DELETE' }),
      await call(`${TOKENS}/${uuidv7()}`, { token, method: 'DELETE' }),
      await call(`${TOKENS}/none`, { token, method: 'DELETE' }),
    ];
    expect(answers.map((answer) => answer.statusCode)).toEqual([404, 404, 404]);
    expect((await call(TOKENS, { token })).json().tokens[0].revoked_at).toBeNull();
  });

  it.each([
    ['nothing', {}],
    ['no label', { region: 'eu' }],
    ['no time at all', { label: 'x', region: 'eu', expires_days: 0 }],
    ['a part of a day', { label: 'x', region: 'eu', expires_days: 1.5 }],
    ['days as text', { label: 'x', region: 'eu', expires_days: '30' }],
    ['eternity', { label: 'x', region: 'eu', expires_days: 1e9 }],
    ['a lone surrogate', { label: 'x\ud800', region: 'eu' }],
    ['a list', []],
  ])('is refused for %s', async (_, body) => {
    const answer = await call(TOKENS, { token, body });
    expect(answer.statusCode, answer.body).toBeGreaterThanOrEqual(400);
    expect(answer.statusCode).toBeLessThan(500);
    expect(answer.json().detail).toEqual(expect.any(String));
  });
});

describe('a heartbeat', () => {
  it('names its data plane in either case', async () => {
    const id = await register();
    const own = await tokenOf(id);
    const upper = id.toUpperCase();
    for (const [path, inBody] of [
      [upper, id],
      [id, upper],
      [upper, upper],
    ] as const) {
      expect((await beat(path, own, aHeartbeat(inBody))).statusCode).toBe(200);
    }
    expect(await list()).toMatchObject([{ deployment_id: id, status: 'online' }]);
    // What somebody else calls itself is as given.
    const root = await issue();
    expect((await beat('Plane-A', root.token)).statusCode).toBe(200);
    expect((await list()).map((plane) => plane.deployment_id)).toEqual([id, 'Plane-A']);
  });

  it('is received, and shows in the list of data planes', async () => {
    const deploymentId = await register();
    const before = await call('/api/v1/data-planes', { token });
    expect(before.json()).toMatchObject({
      total: 1,
      data_planes: [{ deployment_id: deploymentId, status: 'registered', bundles_behind: null }],
    });
    const planeToken = await tokenOf(deploymentId);
    const answer = await beat(deploymentId, planeToken);
    expect(answer.statusCode, answer.body).toBe(200);
    const next = { epoch: 1, seq: 1 };
    expect(answer.json()).toEqual({ received: true, timestamp: now.toISOString(), next });
    await test.superuser.query(
      `INSERT INTO stream_heads (tenant_id, stream, epoch, next_seq, head) VALUES ($1, $2, 1, -4, '')`,
      [scope.tenantId, deploymentId],
    );
    // Somebody edited it: the data plane is heard all the same.
    expect((await beat(deploymentId, planeToken)).json()).toEqual({
      ...{ received: true, timestamp: now.toISOString() },
    });
    const { data_planes: planes } = (await call('/api/v1/data-planes', { token })).json();
    expect(planes).toEqual([
      {
        deployment_id: deploymentId,
        label: 'local',
        region: 'eu-central',
        version: '1.0.0',
        status: 'online',
        created_at: now.toISOString(),
        last_heartbeat_at: now.toISOString(),
        opa_bundle_version: '7',
        bundle_revision: 7,
        bundles_behind: 0,
        feed_read_at: null,
        feed_lag: null,
        backlog: null,
        stream: null,
        active_agent_count: 3,
        proxy_rpm_1m: 12.5,
        escalations_pending: 0,
        uptime_seconds: 60.5,
      },
    ]);
  });

  it('that stays away shows as silence, and an old bundle as a lag', async () => {
    const deploymentId = await register();
    await beat(deploymentId, await tokenOf(deploymentId));
    const row = { digest: '', contentDigest: '', sourcesDigest: '', bytes: new Uint8Array() };
    await controlPlane.db.inTenant(scope, async (tx) => {
      for (const revision of [7n, 8n, 9n]) {
        await tx.db.bundle.create({ data: { tenantId, revision, ...row } });
      }
    });
    const began = now;
    now = new Date(began.getTime() + 180_000);
    const { data_planes: planes } = (await call('/api/v1/data-planes', { token })).json();
    now = began;
    expect(planes).toMatchObject([{ status: 'silent', bundles_behind: 2 }]);
  });

  it('needs a valid token', async () => {
    const deploymentId = await register();
    const issued = await issue({ label: 'short', region: 'eu', expires_days: 1 });
    const began = now;
    const answers = [
      await beat(deploymentId, undefined),
      await beat(deploymentId, 'dpt_made-up'),
      await beat(deploymentId, token),
    ];
    now = new Date(began.getTime() + 24 * 3_600_000);
    answers.push(await beat(deploymentId, issued.token));
    now = began;
    expect(answers.map((answer) => answer.statusCode)).toEqual([401, 401, 401, 401]);
    expect((await beat(deploymentId, issued.token)).statusCode).toBe(200);
  });

  it('under a deployment’s token is for that deployment only', async () => {
    const [mine, other] = [await register(), await register()];
    const given = await tokenOf(mine);
    expect((await beat(mine, given)).statusCode).toBe(200);
    for (const id of [other, uuidv7(), 'no-uuid']) {
      expect((await beat(id, given)).statusCode, id).toBe(404);
    }
    const heard = (await list()).filter(({ status }) => status === 'online');
    expect(heard).toMatchObject([{ deployment_id: mine }]);
  });

  it.each([
    ['another deployment_id', { deployment_id: uuidv7() }],
    ['a negative count', { active_agent_count: -1 }],
    ['half an agent', { active_agent_count: 1.5 }],
    ['a rate that is a text', { proxy_rpm_1m: '12' }],
    ['a version with a NUL', { opa_bundle_version: '7\u0000' }],
    ['a missing field', { uptime_seconds: undefined }],
  ])('with %s is refused', async (_, overrides) => {
    const deploymentId = await register();
    const { token: planeToken } = await issue();
    const answer = await beat(deploymentId, planeToken, aHeartbeat(deploymentId, overrides));
    expect(answer.statusCode, answer.body).toBe(422);
  });

  it('is small', async () => {
    const deploymentId = await register();
    const { token: planeToken } = await issue();
    const body = aHeartbeat(deploymentId, { opa_bundle_version: 'x'.repeat(200_000) });
    expect((await beat(deploymentId, planeToken, body)).statusCode).toBe(413);
  });
});

describe('a heartbeat under the token that was issued', () => {
  it.each([
    ['a UUID that nobody has', uuidv7()],
    ['a name', 'edge-frankfurt-1'],
    ['a name of 200 characters', 'ä'.repeat(200)],
    ['what a path has to escape', 'a/b?c#d %2e ..'],
    ['something like SQL', "'; DROP TABLE data_planes; --"],
  ])('is received for %s, and listed as never registered', async (_, id) => {
    const root = await issue();
    const answer = await beat(id, root.token);
    expect(answer.statusCode, answer.body).toBe(200);
    expect(answer.json()).toEqual({ received: true, timestamp: now.toISOString() });
    expect((await beat(id, root.token)).statusCode).toBe(200);
    expect(await list()).toMatchObject([
      {
        deployment_id: id,
        label: 'Frankfurt',
        region: 'eu-central',
        status: 'unregistered',
        created_at: now.toISOString(),
        last_heartbeat_at: now.toISOString(),
        opa_bundle_version: '7',
        active_agent_count: 3,
        bundle_revision: null,
        bundles_behind: null,
      },
    ]);
  });

  it('is refused where path and body differ, for no name, and for one too long', async () => {
    const root = await issue();
    const statusOf = async (id: string, body?: object) =>
      (await beat(id, root.token, body)).statusCode;
    expect(await statusOf('a', aHeartbeat('b'))).toBe(422);
    // As any path that cannot name anything.
    expect(await statusOf('x'.repeat(201), aHeartbeat('x'.repeat(201)))).toBe(404);
    expect(await statusOf('a\u0000b', aHeartbeat('a\u0000b'))).toBe(404);
    expect(await list()).toEqual([]);
  });

  it('is not shown to another tenant', async () => {
    const root = await issue();
    await beat('mine', root.token);
    const other = await aTenantAdmin();
    const theirs = await call('/api/v1/data-planes', { token: other.token });
    expect(theirs.json()).toEqual({ data_planes: [], total: 0 });
  });

  it('influences nothing: no registered plane, no revision, no alert, no server’s health', async () => {
    const [deploymentId, revoked] = [await register(), await register()];
    await test.superuser.query(
      `UPDATE data_planes SET status = 'revoked' WHERE tenant_id = $1 AND deployment_id = $2`,
      [tenantId, revoked],
    );
    const server = { server_id: 'files', transport: 'streamable-http', url: 'https://a.example/' };
    await call('/api/v1/mcp-servers', { token, body: server });
    const before = await state();
    const root = await issue();
    const lie = {
      opa_bundle_version: '999999',
      mcp_servers: { resting: ['files'], failing: [], ok: [] },
      stream: {
        state: 'refused',
        is_stopped: true,
        backlog: 1,
        last_error: null,
        stopped_at: null,
      },
    };
    for (const id of ['stranger', deploymentId, revoked]) {
      expect((await beat(id, root.token, aHeartbeat(id, lie))).statusCode).toBe(200);
    }
    // A build that the lie had asked for would have to be waited for.
    await controlPlane.bundles.requestBuild(tenantId);
    expect(await state()).toEqual(before);
    const shown = new Map((await list()).map((plane) => [plane.deployment_id, plane]));
    expect(shown.get(deploymentId)).toMatchObject({
      status: 'registered',
      last_heartbeat_at: null,
    });
    expect(shown.get(revoked)).toMatchObject({ status: 'revoked', last_heartbeat_at: null });
    expect(shown.get('stranger')).toMatchObject({ status: 'unregistered', stream: null });
  });

  it('counts for a data plane that registered with it', async () => {
    const root = await issue();
    const answer = await call('/api/v1/data-planes/register', {
      token: root.token,
      body: aRegistration().provenWith(root.token),
    });
    const { deployment_id: id } = answer.json();
    expect((await beat(id, (await issue()).token)).statusCode).toBe(200);
    expect(await list()).toMatchObject([{ status: 'registered' }]);
    expect((await beat(id, root.token)).statusCode).toBe(200);
    expect(await list()).toMatchObject([{ deployment_id: id, status: 'online' }]);
  });

  it('keeps the hundred heard most recently, for a week', async () => {
    const root = await issue();
    const began = now;
    try {
      for (let i = 0; i < 103; i++) {
        now = new Date(began.getTime() + i);
        expect((await beat(`plane-${i}`, root.token)).statusCode).toBe(200);
      }
      // One that is heard again stays.
      expect((await beat('plane-3', root.token)).statusCode).toBe(200);
      expect((await beat('one-more', root.token)).statusCode).toBe(200);
      const names = (await list()).map((plane) => plane.deployment_id);
      expect(names).toHaveLength(100);
      expect(names).toEqual(expect.arrayContaining(['plane-3', 'one-more', 'plane-102']));
      expect(names).not.toContain('plane-4');
      // A hundred that were heard while the clock was ahead push out nothing once it is put back.
      now = new Date(began.getTime() + 86_400_000);
      for (let i = 0; i < 100; i++) await beat(`ahead-${i}`, root.token);
      now = new Date(began.getTime() + 1_000);
      expect(await list()).toEqual([]);
      for (const name of ['new-1', 'new-2']) await beat(name, root.token);
      expect((await list()).map((plane) => plane.deployment_id)).toEqual(['new-1', 'new-2']);
      now = new Date(began.getTime() + 7 * 86_400_000 + 2_000);
      const page = { limit: 1, offset: 0 };
      expect(await controlPlane.dataPlanes.list(scope, page)).toMatchObject({ unregistered: [] });
    } finally {
      now = began;
    }
  });
});

describe('the list', () => {
  it('has pages: data planes in the order of registration, then those that never did', async () => {
    const root = await issue();
    const planes: string[] = [];
    for (let i = 0; i < 3; i++) {
      now = new Date(now.getTime() + 1);
      planes.push(await register());
    }
    for (const name of ['a', 'b']) expect((await beat(name, root.token)).statusCode).toBe(200);
    const all = [...planes, 'a', 'b'];
    for (const [offset, limit] of [
      [0, 2],
      [2, 2],
      [3, 1],
      [4, 10],
      [9, 1],
    ] as const) {
      const url = `/api/v1/data-planes?offset=${offset}&limit=${limit}`;
      const page = (await call(url, { token })).json();
      expect(page.total).toBe(5);
      expect(
        page.data_planes.map((plane: { deployment_id: string }) => plane.deployment_id),
      ).toEqual(all.slice(offset, offset + limit));
    }
    expect((await list()).map((plane) => plane.deployment_id)).toEqual(all);
    expect((await call('/api/v1/data-planes?limit=10001', { token })).statusCode).toBe(422);
  });

  it('reads of heartbeats what it shows, of one stored by an earlier version too', async () => {
    const id = await register();
    const stream = {
      state: 'ok',
      is_stopped: false,
      backlog: 0,
      last_error: null,
      stopped_at: null,
    };
    const mcp_servers = { resting: [], failing: [], ok: Array(100).fill('a-server') };
    const given = aHeartbeat(id, { mcp_servers, stream, opa_bundle_version: '7'.repeat(300) });
    await test.superuser.query(
      'UPDATE data_planes SET last_heartbeat = $2, last_heartbeat_at = $3 WHERE deployment_id = $1',
      [id, JSON.stringify(given), now],
    );
    const { deployment_id: _, ...shown } = aHeartbeat(id, {
      stream,
      opa_bundle_version: '7'.repeat(200),
    });
    const { planes } = await controlPlane.dataPlanes.list(scope, { limit: 1, offset: 0 });
    expect(planes[0]?.lastHeartbeat).toEqual(shown);
    expect(await list()).toMatchObject([{ deployment_id: id, ...shown }]);
  });
});

const list = async (): Promise<{ deployment_id: string; status: string }[]> =>
  (await call('/api/v1/data-planes', { token })).json().data_planes;

/** What heartbeats could have influenced. */
async function state() {
  const { alerts } = (await call('/api/v1/monitor/alerts', { token })).json();
  const health = (await call('/api/v1/mcp-servers', { token })).json();
  const { rows } = await test.superuser.query(
    'SELECT bundle_revision, feed_seq FROM tenant_heads WHERE tenant_id = $1',
    [tenantId],
  );
  return { alerts, health, rows };
}
