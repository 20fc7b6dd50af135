/**
 * A control plane whose machine's clock shows another year for a moment: what ends with its time
 * ends only by a clock that has shown it for ten minutes, since nothing brings it back. Once the
 * clock is put back, nothing waits for the time that it showed.
 */
import { claimAlerts } from '@governance/control-plane/alerts/delivery-store';
import { raiseAlert } from '@governance/control-plane/alerts/raise-alert';
import { dataPlanesFeature } from '@governance/control-plane/data-planes/data-planes-feature';
import { dispositionsFeature } from '@governance/control-plane/dispositions/dispositions-feature';
import { evidenceFeature } from '@governance/control-plane/evidence/evidence-feature';
import { exceptionsFeature } from '@governance/control-plane/exceptions/exceptions-feature';
import { rateLimitsFeature } from '@governance/control-plane/rate-limits/rate-limits-feature';
import { replaysFeature } from '@governance/control-plane/replays/replays-feature';
import { workflowsFeature } from '@governance/control-plane/workflows/workflows-feature';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { aDataPlane, aDecision } from './support/a-data-plane.ts';
import { aPayload } from './support/a-payload.ts';
import { aRegistration } from './support/a-registration.ts';
import { anAgent } from './support/an-agent.ts';
import { testControlPlane } from './support/test-control-plane.ts';

const { call, aTenantAdmin, controlPlane, test } = await testControlPlane();

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 86_400_000;
const core = { ...controlPlane, registry: new Registry() };
const ENDINGS = [
  dataPlanesFeature,
  dispositionsFeature,
  evidenceFeature,
  exceptionsFeature,
  rateLimitsFeature,
  replaysFeature,
  workflowsFeature,
].flatMap((makeFeature) => makeFeature(core).tasks ?? []);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterEach(() => {
  vi.useRealTimers();
});

async function runEndings(): Promise<void> {
  for (const task of ENDINGS) await task.run(new AbortController().signal);
}

it('keeps a payload that comes meanwhile', async () => {
  const { token, scope } = await aTenantAdmin();
  const root = await call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'x' } });
  const { token: secret } = root.json();
  const registered = await call('/api/v1/data-planes/register', {
    ...{ token: secret, body: aRegistration().provenWith(secret) },
  });
  vi.setSystemTime(Date.now() + 400 * DAY);
  const place = { tenantId: scope.tenantId, deploymentId: registered.json().deployment_id };
  const id = await aPayload(test, controlPlane, place, 'full');
  const { rows } = await test.superuser.query(
    'SELECT event_id FROM event_payloads WHERE tenant_id = $1',
    [scope.tenantId],
  );
  expect(rows).toEqual([{ event_id: id }]);
});

it('ends nothing for good', async () => {
  const { token, scope } = await aTenantAdmin();
  const make = async (url: string, body: object) => {
    const answer = await call(url, { token, body });
    expect(answer.statusCode, answer.body).toBeLessThan(300);
    return answer.json();
  };
  const agent = await make('/api/v1/agents', {
    ...{ name: 'a', agent_type: 'assistant', owner: 'a@example.com' },
  });
  const exception = await make('/api/v1/exceptions', {
    ...{ justification: 'a reason of ten', expires_in_hours: 2, agent_id: agent.id },
  });
  const workflow = await make('/api/v1/workflows', { name: 'w', owner_agent_id: agent.id });
  const sessions = `/api/v1/workflows/${workflow.id}/sessions`;
  const session = await make(sessions, { expires_in_seconds: 3_600 });
  const root = await make('/api/v1/admin/data-plane-tokens', { label: 'x', expires_days: 30 });
  const registered = await call('/api/v1/data-planes/register', {
    ...{ token: root.token, body: aRegistration().provenWith(root.token) },
  });
  expect(registered.statusCode, registered.body).toBeLessThan(300);
  await test.superuser.query(
    `INSERT INTO evidence_packages (tenant_id, id, status, requested_by, requested_at, from_time,
       to_time, include_payloads, expires_at)
     VALUES ($1, gen_random_uuid(), 'ready', 'a', now(), now() - interval '1 day', now(), false,
       now() + interval '7 days')`,
    [scope.tenantId],
  );

  vi.setSystemTime(Date.now() + 400 * DAY);
  await runEndings();
  vi.setSystemTime(Date.now() - 400 * DAY);

  const shown = async (url: string) => (await call(url, { token })).json();
  expect(await shown(`/api/v1/exceptions/${exception.id}`)).toMatchObject({ status: 'active' });
  expect(await shown(`${sessions}/${session.id}`)).toMatchObject({ status: 'active' });
  expect(await shown('/api/v1/admin/data-plane-tokens')).toMatchObject({ total: 2 });
  const { rows } = await test.superuser.query(
    'SELECT count(*)::int AS packages FROM evidence_packages WHERE tenant_id = $1',
    [scope.tenantId],
  );
  expect(rows).toEqual([{ packages: 1 }]);
});

/** A tenant whose agent sends an IBAN in one session each. */
async function anAgentThatLeaks() {
  const { token, scope } = await aTenantAdmin();
  const agent_id = (await anAgent(test, scope)).id;
  const plane = await aDataPlane(test, scope);
  plane.boot();
  let shipped = 0;
  const leak = async (...sessions: string[]): Promise<void> => {
    for (const session_id of sessions)
      plane.append(
        aDecision({
          ...{ timestamp: new Date().toISOString(), agent_id, session_id, dlp_action: 'warned' },
          dlp_findings_count: 1,
          dlp_findings: [{ pattern: 'iban', severity: 'high', place: '/a', length: 20 }],
        }),
      );
    const batch = plane.batch(shipped);
    shipped = plane.records.length;
    await controlPlane.ingest.ingestBatch(scope.tenantId, plane.deploymentId, batch);
    await runEndings();
  };
  const countAlerts = async (): Promise<number> => {
    const { rows } = await test.superuser.query(
      `SELECT count(*)::int AS raised FROM alerts
       WHERE tenant_id = $1 AND alert_type = 'DLP_CROSS_SESSION'`,
      [scope.tenantId],
    );
    return rows[0].raised;
  };
  const resolveAll = () =>
    test.superuser.query(
      "UPDATE alerts SET status = 'resolved', dedupe_key = NULL WHERE tenant_id = $1",
      [scope.tenantId],
    );
  return { token, scope, leak, countAlerts, resolveAll };
}

it('forgets nothing that detectors have seen', async () => {
  const { leak, countAlerts } = await anAgentThatLeaks();
  await leak('1', '2');
  vi.setSystemTime(Date.now() + 2 * DAY);
  await leak('ahead');
  vi.setSystemTime(Date.now() - 2 * DAY);
  expect(await countAlerts()).toBe(0);
  await leak('3');
  expect(await countAlerts()).toBe(1);
});

it('raises an alert again once the clock is put back', async () => {
  const { leak, countAlerts, resolveAll } = await anAgentThatLeaks();
  vi.setSystemTime(Date.now() + DAY);
  await leak('1', '2', '3');
  await resolveAll();
  vi.setSystemTime(Date.now() - DAY);
  await leak('4', '5', '6');
  expect(await countAlerts()).toBe(2);
  await resolveAll();
  await leak('7', '8', '9');
  expect(await countAlerts()).toBe(2);
});

it('posts alerts again once the clock is put back, and not before the pause is over', async () => {
  const { scope } = await aTenantAdmin();
  const claim = () =>
    controlPlane.db.inTenant(scope, async (tx) => {
      const { alerts } = await claimAlerts(tx, ['high']);
      return alerts.map(({ attempt }) => attempt);
    });
  // The queue goes by the database's clock: what it noted looks as if that were changed.
  const shift = (days: number) =>
    test.superuser.query(
      `UPDATE alerts SET attempted_at = attempted_at - $2::int * interval '1 day',
         deliver_after = deliver_after - $2::int * interval '1 day' WHERE tenant_id = $1`,
      [scope.tenantId, days],
    );
  await controlPlane.db.inTenant(scope, (tx) =>
    raiseAlert(tx, {
      ...{ alertType: 'CHAIN_BREAK', severity: 'high', agentId: null, title: 'a', details: {} },
      ...{ dedupeKey: null, now: new Date() },
    }),
  );
  expect(await claim()).toEqual([1]);
  // Other processes, one of which is far ahead.
  for (const change of [-MINUTE, DAY]) {
    vi.setSystemTime(Date.now() + change);
    expect(await claim()).toEqual([]);
  }
  await shift(-1);
  expect(await claim()).toEqual([2]);
  expect(await claim()).toEqual([]);
  // It was two days behind, and was put right: nothing is given up for that.
  await shift(2);
  expect(await claim()).toEqual([3]);
  expect(await claim()).toEqual([]);
});

it('hands out a new position of the log once the clock is put back', async () => {
  const { token, scope, leak } = await anAgentThatLeaks();
  const sizeOfAnchor = async (): Promise<number> =>
    (await call('/api/v1/evidence/trust-anchor', { token })).json().log.size;
  await leak('1');
  vi.setSystemTime(Date.now() + HOUR);
  const before = await sizeOfAnchor();
  // An anchor is handed out again for a minute.
  vi.setSystemTime(Date.now() - HOUR + 2 * MINUTE);
  await leak('2');
  const { rows } = await test.superuser.query(
    'SELECT max(size)::int AS size FROM log_heads WHERE tenant_id = $1',
    [scope.tenantId],
  );
  expect(rows[0].size).toBeGreaterThan(before);
  expect(await sizeOfAnchor()).toBe(rows[0].size);
});
