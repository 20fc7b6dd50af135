/**
 * A feature is one folder and one line: each part of the trial feature does its work in a control
 * plane that knows nothing else of it.
 */

import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { encodeBatch, FeedPageBody, NDJSON } from '@governance/shared/channel/channel-routes';
import { FEED_START } from '@governance/shared/channel/feed-chain';
import { expect, it, vi } from 'vitest';
import { aDecision, createWriter } from '../../../../tests/support/a-data-plane.ts';
import { aRegistration } from '../../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';
import { systemScope } from '../../platform/database/tenant-scope.ts';
import { TRIAL_FACT, TRIAL_TABLE, trialFeature } from './trial-feature.ts';

const { call, controlPlane, test, superAdminToken } = await testControlPlane({
  features: [trialFeature],
  prepare: async ({ superuser }) => void (await superuser.query(TRIAL_TABLE)),
});

/** A tenant made by the API, its administrator, and a data plane of it. */
async function aTenant() {
  const name = `tenant-${Math.random()}`;
  const admin = { username: name, password: 'a long password' };
  const made = await call('/api/v1/tenants', {
    token: await superAdminToken(),
    body: { name, admin },
  });
  expect(made.statusCode, made.body).toBe(201);
  const tenantId: string = made.json().id;
  const login = await call('/api/v1/auth/admin/login', { body: admin });
  const token: string = login.json().access_token;
  const issued = await call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'x' } });
  const root: string = issued.json().token;
  const keys = aRegistration();
  const answer = await call('/api/v1/data-planes/register', {
    token: root,
    body: keys.provenWith(root),
  });
  const { deployment_id: deploymentId, token: own } = answer.json();
  const plane = createWriter(tenantId, deploymentId, keys.signingKey);
  plane.boot();
  const ship = (from: number) =>
    call(`/api/v1/data-planes/${deploymentId}/audit-batches`, {
      token: own.token,
      body: encodeBatch(plane.batch(from)),
      headers: { 'content-type': NDJSON },
    });
  const counts = async () => {
    const { tools } = (await call('/api/v1/trial/tools', { token })).json();
    const rows: { tool_name: string; calls: number; reviewed: boolean }[] = tools;
    return Object.fromEntries(rows.map((row) => [row.tool_name, row.calls]));
  };
  return { tenantId, token, deploymentId, dataPlaneToken: own.token, plane, ship, counts };
}

async function storedTypes(tenantId: string, stream: string): Promise<string[]> {
  const { rows } = await test.superuser.query<{ type: string }>(
    'SELECT type FROM ledger_records WHERE tenant_id = $1 AND stream = $2 ORDER BY epoch, seq',
    [tenantId, stream],
  );
  return rows.map(({ type }) => type);
}

it('projects records in the transaction that stores them, and its route shows them', async () => {
  const { tenantId, deploymentId, plane, ship, counts } = await aTenant();
  plane.append(aDecision({ tool_name: 'read_file' }));
  plane.append(aDecision({ tool_name: 'read_file' }));
  plane.append(aDecision({ tool_name: 'send_mail' }));
  expect((await ship(0)).statusCode).toBe(200);
  expect((await ship(0)).json()).toMatchObject({ status: 'already_stored' });
  expect(await counts()).toEqual({ read_file: 2, send_mail: 1 });
  expect(await storedTypes(tenantId, deploymentId)).toHaveLength(4);
});

it('keeps nothing of a batch that is rolled back', async () => {
  const { tenantId, deploymentId, plane, ship, counts } = await aTenant();
  plane.append(aDecision({ tool_name: 'read_file' }));
  // Behind the projection in the same transaction, and nothing that a record is to blame for.
  await test.superuser.query(`
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the disk is full' USING ERRCODE = '58030'; END $$;
    CREATE TRIGGER fail BEFORE INSERT ON ledger_batches FOR EACH ROW EXECUTE FUNCTION fail()`);
  expect((await ship(0)).statusCode).toBe(503);
  await test.superuser.query('DROP FUNCTION fail() CASCADE');
  expect(await counts()).toEqual({});
  expect(await storedTypes(tenantId, deploymentId)).toEqual([]);
  expect((await ship(0)).statusCode).toBe(200);
  expect(await counts()).toEqual({ read_file: 1 });
});

it('has a record quarantined that its table refuses, and counts the others', async () => {
  const { tenantId, deploymentId, plane, ship, counts } = await aTenant();
  plane.append(aDecision({ tool_name: 'read_file' }));
  plane.append(aDecision({ tool_name: 'refused by the table' }));
  expect((await ship(0)).statusCode).toBe(200);
  expect(await counts()).toEqual({ read_file: 1 });
  const types = ['epoch_start', 'decision', 'quarantined'];
  expect(await storedTypes(tenantId, deploymentId)).toEqual(types);
});

it('has its setting in the next bundle', async () => {
  const { tenantId, plane, ship } = await aTenant();
  const settings = async () => {
    const bundle = await controlPlane.bundleSource.findCurrent(tenantId);
    const files = await unpackArchive(bundle?.bytes ?? new Uint8Array());
    return JSON.parse(files.get('data.json')?.toString() ?? '{}').settings;
  };
  expect(await settings()).toMatchObject({ mcp_servers: {}, counted_tools: [] });
  plane.append(aDecision({ tool_name: 'read_file' }));
  await ship(0);
  await controlPlane.bundles.requestBuild(tenantId);
  await vi.waitFor(async () =>
    expect(await settings()).toMatchObject({ mcp_servers: {}, counted_tools: ['read_file'] }),
  );
});

it('gives a new tenant its fact, in the feed of the tenant’s data planes', async () => {
  const { deploymentId, dataPlaneToken } = await aTenant();
  const url = `/api/v1/data-planes/${deploymentId}/feed?cursor=0&digest=${FEED_START}`;
  const answer = await call(url, { token: dataPlaneToken });
  const { entries } = FeedPageBody.parse(answer.json());
  expect(entries).toContainEqual({ seq: expect.any(Number), ...TRIAL_FACT });
});

it('has its task run', async () => {
  const { token, plane, ship } = await aTenant();
  plane.append(aDecision({ tool_name: 'read_file' }));
  await ship(0);
  await vi.waitFor(
    async () => {
      const { tools } = (await call('/api/v1/trial/tools', { token })).json();
      expect(tools).toEqual([{ tool_name: 'read_file', calls: 1, reviewed: true }]);
    },
    { timeout: 10_000 },
  );
});

it('shows a tenant its own rows alone', async () => {
  const one = await aTenant();
  const other = await aTenant();
  one.plane.append(aDecision({ tool_name: 'read_file' }));
  await one.ship(0);
  expect(await other.counts()).toEqual({});
  const read = () =>
    test.db.inTenant(
      systemScope(other.tenantId),
      (tx) => tx.db.$queryRaw`SELECT * FROM tool_counts`,
    );
  expect(await read()).toEqual([]);
});
