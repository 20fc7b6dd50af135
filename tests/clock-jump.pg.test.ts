/**
 * A control plane whose machine's clock shows another year for a moment: what ends with its time
 * ends only by a clock that has shown it for ten minutes, since nothing brings it back.
 */
import { dataPlanesFeature } from '@governance/control-plane/data-planes/data-planes-feature';
import { evidenceFeature } from '@governance/control-plane/evidence/evidence-feature';
import { exceptionsFeature } from '@governance/control-plane/exceptions/exceptions-feature';
import { rateLimitsFeature } from '@governance/control-plane/rate-limits/rate-limits-feature';
import { replaysFeature } from '@governance/control-plane/replays/replays-feature';
import { workflowsFeature } from '@governance/control-plane/workflows/workflows-feature';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { aPayload } from './support/a-payload.ts';
import { aRegistration } from './support/a-registration.ts';
import { testControlPlane } from './support/test-control-plane.ts';

const { call, aTenantAdmin, controlPlane, test } = await testControlPlane();

const DAY = 86_400_000;
const core = { ...controlPlane, registry: new Registry() };
const ENDINGS = [
  dataPlanesFeature,
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
