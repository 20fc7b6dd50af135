/**
 * What an honest data plane records of a result that a person released is no dispute, raises no
 * alert, and verifies, for both verifiers.
 */
import { expect, it, vi } from 'vitest';
import { aResultHeld } from '../../../../tests/support/a-data-plane.ts';
import { aShippingPlane } from '../../../../tests/support/a-shipping-plane.ts';
import { createEvidenceExports, memberOf } from '../../../../tests/support/evidence-exports.ts';
import { createEvidenceReader } from '../../../../tests/support/evidence-reader.ts';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';

vi.setConfig({ testTimeout: 60_000 });

const HOUR = 3_600_000;
const at = (ms: number) => new Date(Date.now() + ms).toISOString();
const plane = await testControlPlane({ env: { SERVICE_CHECKPOINT_SECONDS: '1' } });
const { call, aTenantAdmin } = plane;
const exports = createEvidenceExports(plane, { from: at(-HOUR), to: at(HOUR) });
const reader = createEvidenceReader();

async function aHeldResult() {
  const admin = await aTenantAdmin();
  const { token } = admin;
  const body = { name: 'a', agent_type: 't', owner: 'o', description: '' };
  const agent_id: string = (await call('/api/v1/agents', { token, body })).json().id;
  const asked = { agent_id, mcp_server: 'web', tool_name: 'read_page' };
  const one = await aShippingPlane(plane, admin);
  const held = aResultHeld(one.decide(asked));
  one.writer.append(held);
  await one.ship();
  const resolve = async (resolution: string): Promise<string> => {
    const url = `/api/v1/inbound/holds/${held.escalation_id}/resolve`;
    const answer = await call(url, { token, body: { resolution } });
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json().grant.id;
  };
  const disputes = async () => {
    const { alerts } = (await call('/api/v1/monitor/alerts', { token })).json();
    return alerts.filter((alert: { alert_type: string }) =>
      alert.alert_type.startsWith('DATA_PLANE'),
    );
  };
  return { ...one, token, asked, hold: held, resolve, disputes };
}

it.each(['allow_original', 'allow_sanitized'])('%s', async (resolution) => {
  const one = await aHeldResult();
  one.decide({ ...one.asked, grant_id: await one.resolve(resolution) });
  await one.ship();
  expect(await one.disputes()).toEqual([]);
  const anchor = await exports.anchorOf(one.token);
  for (const filter of [{}, { agent_ids: [one.asked.agent_id] }]) {
    const [volume = expect.unreachable()] = await exports.exported(one.token, filter);
    expect(await reader.read(volume, anchor)).toMatchObject({
      verdict: 'VERIFIED',
      fails: [],
      warns: {},
    });
    if (!('agent_ids' in filter)) continue;
    const [cause = ''] = (await memberOf(volume, 'causes.ndjson')).split('\n');
    expect(JSON.parse(JSON.parse(cause).record)).toMatchObject({
      action: `inbound_hold_${resolution.replace('allow', 'allowed')}`,
      target: `inbound_hold/${one.hold.escalation_id}`,
    });
  }
});

it('the release of one tool’s result lets no other tool pass', async () => {
  const one = await aHeldResult();
  const grant_id = await one.resolve('allow_original');
  one.decide({ ...one.asked, tool_name: 'delete', grant_id });
  await one.ship();
  expect(await one.disputes()).toMatchObject([{ details: { violation: 'record_disputed' } }]);
});

it('another result under the id of one that was released is disputed, and changes nothing', async () => {
  const one = await aHeldResult();
  const { escalation_id } = one.hold;
  const grant_id = await one.resolve('allow_original');
  const another = one.decide({ ...one.asked, timestamp: at(60_000) });
  one.writer.append(aResultHeld(another, { escalation_id }));
  await one.ship();
  expect(await one.disputes()).toMatchObject([{ details: { violation: 'record_disputed' } }]);
  one.decide({ ...one.asked, grant_id, timestamp: at(61_000) });
  await one.ship();
  const anchor = await exports.anchorOf(one.token);
  const of = { agent_ids: [one.asked.agent_id] };
  // The last ones begin behind the result that was released.
  for (const filter of [{}, of, { from: at(30_000) }, { ...of, from: at(30_000) }]) {
    const [volume = expect.unreachable()] = await exports.exported(one.token, filter);
    expect(await reader.read(volume, anchor)).toMatchObject({ verdict: 'VERIFIED', fails: [] });
  }
});
