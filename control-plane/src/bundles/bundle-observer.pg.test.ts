import { expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { savePolicy } from '../policies/commit-step.ts';
import { policyStore } from '../policies/policy-store.ts';

const { call, aTenantAdmin, controlPlane, logged } = await testControlPlane();

async function metric(name: string): Promise<number> {
  const { body } = await call('/metrics');
  const line = body.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

it('a failed build is reported by log, metric and alert, and the old bundle stays', async () => {
  const { token, scope } = await aTenantAdmin();
  const rego = 'package p\n\nallow if input.request.action == "read"\n';
  const { id } = (
    await call('/api/v1/policies', {
      token,
      body: { name: 'one', rego_content: rego, status: 'active' },
    })
  ).json();
  const before = await controlPlane.bundleSource.findCurrent(scope.tenantId);
  const register = (serverId: string) =>
    call('/api/v1/mcp-servers', {
      token,
      body: { server_id: serverId, transport: 'stdio', local_name: 'files' },
    });
  const attest = await controlPlane.attestations.prepare();
  const replace = (regoContent: string) =>
    controlPlane.db.inTenant(scope, async (tx) => {
      const stored = await policyStore(tx).find(id);
      if (stored) await savePolicy(tx, stored, { ...stored, regoContent }, attest);
    });

  // As a newer compiler might, that refuses what an older one took.
  await replace('package p\n\nallow if http.send({})\n');
  const answer = await register('files');
  expect(answer.statusCode).toBe(503);
  expect(answer.json().detail).toContain('The change is stored');
  expect(await controlPlane.bundleSource.findCurrent(scope.tenantId)).toBe(before);
  expect(logged.join('')).toContain('bundle not built: the last one stays');
  expect(await metric('bundle_failing_tenants')).toBe(1);
  expect(await metric('bundle_builds_total{outcome="failed"}')).toBeGreaterThanOrEqual(1);
  const listAlerts = async () => (await call('/api/v1/monitor/alerts', { token })).json().alerts;
  const alert = { alert_type: 'BUNDLE_BUILD_FAILED', severity: 'high' };
  expect(await listAlerts()).toMatchObject([{ ...alert, status: 'open' }]);

  await replace(rego);
  expect((await register('more')).statusCode).toBe(201);
  expect(await metric('bundle_failing_tenants')).toBe(0);
  const after = await controlPlane.bundleSource.findCurrent(scope.tenantId);
  expect(after?.revision).toBeGreaterThan(before?.revision ?? Number.MAX_SAFE_INTEGER);

  // The next failure is told again: it may be of other rules.
  expect(await listAlerts()).toMatchObject([{ ...alert, status: 'resolved' }]);
  await replace('package p\n\nallow if http.send({})\n');
  expect((await register('third')).statusCode).toBe(503);
  const statuses = (await listAlerts()).map((one: { status: string }) => one.status);
  expect(statuses).toEqual(['open', 'resolved']);
  await replace(rego);
});

it('the description of the interface names every route of policies, servers and bundles', async () => {
  const { paths } = (await call('/docs/json')).json();
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining([
      '/api/v1/policies',
      '/api/v1/policies/{id}',
      '/api/v1/policies/{id}/evaluate',
      '/api/v1/mcp-servers',
      '/api/v1/mcp-servers/{server_id}',
      '/api/v1/opa/bundle/{tenant_id}',
    ]),
  );
});
