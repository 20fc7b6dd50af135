/** A row that was changed in the database is approved for no call. */
import { uuidv7 } from '@governance/shared/ids';
import { expect, it } from 'vitest';
import {
  aDataPlane,
  aDecision,
  aHoldOpened,
  aResultHeld,
} from '../../../tests/support/a-data-plane.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { createHoldView } from '../testing/test-escalations.ts';

const service = await testControlPlane();
const { call, test, aTenantAdmin } = service;

it.each([
  [`agent_id = gen_random_uuid()`, 'agent_id is not what its data plane recorded'],
  [`tool_name = 'read_thing'`, 'tool_name is not'],
  [`mcp_server = 'other'`, 'mcp_server is not'],
  [`target = 'elsewhere'`, 'target is not'],
  [`reason = 'harmless'`, 'reason is not'],
  [`requester_id = 'somebody else'`, 'requester_id is not'],
  [`shape = '{"policy_ids": [], "resource": ""}'`, 'shape is not'],
  [`binding = '00'`, 'binding is not'],
  [`timeout_at = timeout_at + interval '1 hour'`, 'timeout_at is later than'],
  [`event_id = gen_random_uuid()`, 'no record of its data plane opened it'],
])('a row with %s cannot be approved, and can be denied', async (change, fault) => {
  const { token, scope } = await aTenantAdmin();
  const { tenantId } = scope;
  const plane = await aDataPlane(test, scope);
  plane.boot();
  const view = createHoldView(service, { token, tenantId, plane }, 'escalation_');
  const id = uuidv7();
  const decision = aDecision({ policy_result: 'escalate', tool_name: 'delete_thing' });
  plane.append({ ...decision, escalation_id: id });
  const timeout_at = new Date(Date.now() + 60_000).toISOString();
  plane.append(aHoldOpened(decision, { escalation_id: id, timeout_at }));
  await view.ship();
  const where = 'WHERE tenant_id = $1 AND id = $2';
  await test.superuser.query(`UPDATE escalations SET ${change} ${where}`, [tenantId, id]);
  const decide = (what: string) =>
    call(`/api/v1/escalations/${id}/${what}`, { token, method: 'POST' });
  const refused = await decide('approve');
  expect(refused.statusCode).toBe(500);
  expect(refused.json().detail).toContain(`escalations ${id}: ${fault}`);
  const { rows } = await test.superuser.query(`SELECT status FROM escalations ${where}`, [
    tenantId,
    id,
  ]);
  expect(rows).toEqual([{ status: 'pending' }]);
  expect((await decide('deny')).statusCode).toBe(200);
});

it('a result whose findings were changed cannot be released', async () => {
  const { token, scope } = await aTenantAdmin();
  const { tenantId } = scope;
  const plane = await aDataPlane(test, scope);
  plane.boot();
  const view = createHoldView(service, { token, tenantId, plane }, 'inbound_hold_');
  const id = uuidv7();
  const decision = aDecision({ tool_name: 'read_page' });
  plane.append(decision);
  const timeout_at = new Date(Date.now() + 60_000).toISOString();
  plane.append(aResultHeld(decision, { escalation_id: id, timeout_at }));
  await view.ship();
  await test.superuser.query(
    `UPDATE escalations SET findings = jsonb_set(findings, '{0,severity}', '"low"')
     WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id],
  );
  const resolve = (resolution: string) =>
    call(`/api/v1/inbound/holds/${id}/resolve`, { token, body: { resolution } });
  const refused = await resolve('allow_original');
  expect(refused.statusCode).toBe(500);
  expect(refused.json().detail).toContain(`escalations ${id}: findings is not`);
  expect((await resolve('block')).statusCode).toBe(200);
});
