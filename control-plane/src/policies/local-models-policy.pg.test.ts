/** Bundles say whether the policy *Local models* is active, and delegations are issued by it. */

import { baselinePack } from '@governance/policies/baseline-pack';
import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { BUNDLE_MEMBERS, BundleData } from '@governance/shared/bundle/bundle-format';
import { expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { insertBaselinePack } from './baseline-pack.ts';

const { call, aTenantAdmin, controlPlane } = await testControlPlane();
const { scope, token } = await aTenantAdmin();

async function ask(method: 'GET' | 'POST' | 'PUT' | 'PATCH', url: string, body?: object) {
  const answer = await call(url, { method, token, ...(body && { body }) });
  return { status: answer.statusCode, json: answer.json() };
}

/** As the bundle says it that data planes get now. */
async function inBundle(): Promise<boolean | undefined> {
  const bundle = await controlPlane.bundleSource.findCurrent(scope.tenantId);
  const files = await unpackArchive(bundle?.bytes ?? new Uint8Array());
  const data = Buffer.from(files.get(BUNDLE_MEMBERS.data) ?? []).toString('utf8');
  return BundleData.parse(JSON.parse(data)).settings.local_models_policy;
}

async function anAgent(name: string, permissions: string[]): Promise<string> {
  const agent = { name, agent_type: 't', owner: 'o', description: '' };
  const { id } = (await ask('POST', '/api/v1/agents', agent)).json;
  const role = { name, description: '', permissions, resource_scopes: [] };
  const { id: role_id } = (await ask('POST', '/api/v1/roles', role)).json;
  await ask('POST', `/api/v1/agents/${id}/roles`, { role_id });
  return id;
}

it('as it is now, whatever the policy is called', async () => {
  const byWeb = await anAgent('by web', ['web:*']);
  const byRuntime = await anAgent('by runtime', ['localmodel-proxy:*']);
  const worker = await anAgent('worker', ['*:*']);
  const issue = async (owner: string) => {
    const workflow = { name: 'w', owner_agent_id: owner, max_depth: 1, max_participants: 2 };
    const { id } = (await ask('POST', '/api/v1/workflows', { ...workflow, participants: [] })).json;
    const session = (await ask('POST', `/api/v1/workflows/${id}/sessions`)).json;
    const { status } = await ask('POST', '/api/v1/delegations', {
      workflow_session_id: session.id,
      ...{ delegator_agent_id: owner, delegatee_agent_id: worker, reason: 'r' },
      scope: { tools: ['localmodel-proxy'], resources: [] },
    });
    return status;
  };
  const issued = async () => [await issue(byWeb), await issue(byRuntime)];

  const attest = await controlPlane.attestations.prepare();
  await controlPlane.db.inTenant(scope, (tx) =>
    insertBaselinePack(tx, baselinePack(), new Date(), attest),
  );
  const { policies } = (await ask('GET', '/api/v1/policies')).json;
  const id = policies.find(({ name }: { name: string }) => name === 'Local models').id;
  const change = (body: object) => ask('PATCH', `/api/v1/policies/${id}`, body);

  expect((await change({ name: 'Our models' })).status).toBe(200);
  expect([await inBundle(), await issued()]).toEqual([true, [201, 403]]);
  for (const status of ['draft', 'archived']) {
    expect((await change({ status })).status).toBe(200);
    expect([await inBundle(), await issued()], status).toEqual([false, [403, 201]]);
  }
  expect((await change({ status: 'active' })).status).toBe(200);
  expect([await inBundle(), await issued()]).toEqual([true, [201, 403]]);
});
