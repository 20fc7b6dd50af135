/** What a lying data plane records of held calls and results breaks no list of them. */
import { uuidv7 } from '@governance/shared/ids';
import { describe, expect, it } from 'vitest';
import {
  aDataPlane,
  aDecision,
  aHoldOpened,
  aResultHeld,
} from '../../../tests/support/a-data-plane.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, controlPlane, test, aTenantAdmin } = await testControlPlane();

async function aTenantWithPlane() {
  const { token, scope } = await aTenantAdmin();
  const plane = await aDataPlane(test, scope);
  plane.boot();
  let shipped = 0;
  const ship = async () => {
    await controlPlane.ingest.ingestBatch(scope.tenantId, plane.deploymentId, plane.batch(shipped));
    shipped = plane.records.length;
  };
  const get = (path: string) => call(path, { token });
  return { token, scope, plane, ship, get };
}

const timeout_at = () => new Date(Date.now() + 60_000).toISOString();

describe('a held result that a data plane reports nonsense about', () => {
  it.each<[string, Record<string, unknown>]>([
    ['a place that is no text', { findings: [{ class: 'a', severity: 'high', place: 5 }] }],
    ['a score that is no number', { findings: [{ class: 'a', severity: 'high', score: 'x' }] }],
    ['members that nobody knows', { findings: [{ class: 'a', severity: 'high', text: 'do' }] }],
    ['a NUL in a finding', { findings: [{ class: 'a', severity: 'high', note: 'a\u0000b' }] }],
    ['more bytes than an integer has', { result_bytes: 2 ** 40 }],
    ['more findings than an integer has', { findings_count: 2 ** 40 }],
    ['a time before all times', { timeout_at: '0000-01-01T00:00:00.000Z' }],
    ['a time after all times', { timeout_at: '9999-12-31T23:59:59.999Z' }],
  ])('lists the others all the same: %s', async (_, over) => {
    const one = await aTenantWithPlane();
    for (const fields of [over, {}]) {
      const decision = aDecision({ tool_name: 'read_page' });
      one.plane.append(decision);
      const held = { escalation_id: uuidv7(), timeout_at: timeout_at(), ...fields };
      one.plane.append(aResultHeld(decision, held as never));
    }
    await one.ship();
    const answer = await one.get('/api/v1/inbound/holds');
    expect(answer.statusCode, answer.body).toBe(200);
    expect(answer.json().total).toBeGreaterThanOrEqual(1);
    expect(answer.body).not.toContain('"text"');
    for (const { id } of answer.json().holds) {
      const detail = await one.get(`/api/v1/inbound/holds/${id}`);
      expect(detail.statusCode, detail.body).toBe(200);
    }
  });
});

it('shows a held result whose finding lies below a name with NUL', async () => {
  const one = await aTenantWithPlane();
  const decision = aDecision({ tool_name: 'read_page' });
  one.plane.append(decision);
  const findings = [{ class: 'urgency_framing', severity: 'high', place: '/a\u0000b' }];
  const held = { escalation_id: uuidv7(), timeout_at: timeout_at(), findings };
  one.plane.append(aResultHeld(decision, held as never));
  await one.ship();
  const { holds } = (await one.get('/api/v1/inbound/holds')).json();
  expect(holds).toMatchObject([{ id: held.escalation_id }]);
});

it('raises alerts that name no agent for an agent that the tenant never had', async () => {
  const one = await aTenantWithPlane();
  for (const make of [aHoldOpened, aResultHeld]) {
    const decision = aDecision({ agent_id: uuidv7() });
    one.plane.append(decision);
    one.plane.append(make(decision, { escalation_id: uuidv7(), timeout_at: timeout_at() }));
  }
  await one.ship();
  const { alerts } = (await one.get('/api/v1/monitor/alerts')).json();
  const waiting = alerts.filter(({ alert_type: type }: { alert_type: string }) =>
    ['ESCALATION_OPENED', 'INBOUND_RESULT_HELD'].includes(type),
  );
  expect(waiting).toMatchObject([{ agent_id: null }, { agent_id: null }]);
});
