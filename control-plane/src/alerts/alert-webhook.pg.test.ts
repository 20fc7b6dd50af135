import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Severity } from '@governance/shared/ledger/ledger-record';
import { createOutboundClient } from '@governance/shared/outbound/outbound-client';
import { Secret } from '@governance/shared/settings';
import { createPatientServer } from '@governance/shared/testing/test-http';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { aDataPlane, aDecision, aHoldOpened } from '../../../tests/support/a-data-plane.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { createAlertWebhook } from './alert-webhook.ts';
import { raiseAlert } from './raise-alert.ts';
import { signatureHeaders } from './webhook-signature.ts';

const SECRET = 'what both sides know';

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

/** What it answers next; 200 when there is nothing left. */
const answers: (number | 'hang' | 'redirect')[] = [];
const received: Received[] = [];
const receiver = createPatientServer(async (request, response) => {
  const body = await text(request);
  // A receiver checks this before anything else.
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  if (request.headers['x-service-signature'] !== signature) {
    response.writeHead(401).end();
    return;
  }
  // As a receiver's library for Standard Webhooks does.
  const {
    'webhook-id': id,
    'webhook-timestamp': at,
    'webhook-signature': signed,
  } = request.headers;
  const standard = createHmac('sha256', SECRET).update(`${id}.${at}.${body}`).digest('base64');
  if (signed !== `v1,${standard}` || Math.abs(Date.now() / 1000 - Number(at)) > 300) {
    response.writeHead(400).end();
    return;
  }
  received.push({ headers: request.headers, body });
  const answer = answers.shift() ?? 200;
  if (answer === 'hang') response.destroy();
  else if (answer === 'redirect') response.writeHead(307, { location: '/elsewhere' }).end();
  else response.writeHead(answer).end('x'.repeat(100));
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/alerts`;

const { controlPlane, aTenantAdmin, test, call } = await testControlPlane({
  env: { SERVICE_WEBHOOK_URL: url, SERVICE_WEBHOOK_SECRET: SECRET },
});
afterAll(() => void receiver.close());
beforeEach(() => {
  received.length = 0;
  answers.length = 0;
});

const raise = (scope: TenantScope, severity: Severity, title: string) =>
  controlPlane.db.inTenant(scope, (tx) =>
    raiseAlert(tx, {
      alertType: 'CHAIN_BREAK',
      severity,
      agentId: null,
      title,
      details: { ünïcode: '✓' },
      dedupeKey: null,
      now: new Date(),
    }),
  );

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if (await condition()) return;
    await sleep(25);
  }
  expect.unreachable('it did not happen');
}

const rowOf = async (id: string | undefined) =>
  (await test.superuser.query('SELECT * FROM alerts WHERE id = $1', [id])).rows[0];

const deliveries = async (token: string, query = '') =>
  (await call(`/api/v1/monitor/alert-deliveries${query}`, { token })).json();

it.each([
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'any other text',
])('signs as a receiver with the secret %s computes it', (secret) => {
  const [id, body, at] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', '{"test": 2432232314}', 1614265330];
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
  const headers = signatureHeaders({ id, body, at: new Date(at * 1000) }, new Secret(secret));
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  expect(headers).toEqual({
    'x-service-signature': createHmac('sha256', secret).update(body).digest('hex'),
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${signature}`,
  });
  // The example of the Standard Webhooks libraries.
  const known = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  if (key !== secret) expect(headers['webhook-signature']).toBe(known);
});

describe('the alert webhook', () => {
  it('posts alerts of the configured severity, signed', async () => {
    const { scope, token } = await aTenantAdmin();
    await raise(scope, 'medium', 'too low');
    const id = await raise(scope, 'high', 'just right');
    await until(() => received.length === 1);
    const { alerts } = (await call('/api/v1/monitor/alerts?severity=high', { token })).json();
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      tenant_id: scope.tenantId,
      ...alerts[0],
    });
    expect(received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-delivery': id,
      'webhook-id': id,
    });
    await until(async () => (await rowOf(id)).delivered_at !== null);
    expect(await deliveries(token)).toEqual({
      total: 1,
      deliveries: [
        {
          alert_id: id,
          alert_type: 'CHAIN_BREAK',
          severity: 'high',
          status: 'delivered',
          attempts: 1,
          last_attempt_at: expect.any(String),
          last_error: null,
          next_attempt_at: null,
          delivered_at: expect.any(String),
        },
      ],
    });
  });

  it('posts what a data plane raised', async () => {
    const { scope } = await aTenantAdmin();
    const plane = await aDataPlane(test, scope);
    plane.boot();
    plane.append({
      type: 'alert',
      id: '0190aaaa-0000-7000-8000-00000000000c',
      timestamp: '2020-01-02T03:04:05.678Z',
      bundle_revision: 1,
      alert_type: 'POLICY_OUT_OF_FUEL',
      severity: 'critical',
      agent_id: null,
      title: 'A policy ran out of fuel',
      details: {},
      dedupe_key: 'fuel',
    });
    await controlPlane.ingest.ingestBatch(scope.tenantId, plane.deploymentId, plane.batch(0));
    await until(() => received.length === 1);
    expect(received[0]?.body).toContain('POLICY_OUT_OF_FUEL');
    // Calls that wait for a person, by the risk tier of their agents.
    const shipped = plane.records.length;
    plane.append(aHoldOpened(aDecision(), { risk_tier: 'medium' }));
    plane.append(aHoldOpened(aDecision(), { risk_tier: 'critical' }));
    const batch = plane.batch(shipped);
    await controlPlane.ingest.ingestBatch(scope.tenantId, plane.deploymentId, batch);
    await until(() => received.length === 2);
    expect(JSON.parse(received[1]?.body ?? '')).toMatchObject({
      alert_type: 'ESCALATION_OPENED',
      severity: 'critical',
    });
  });

  it.each([
    [500, 'the receiver answered 500'],
    [404, 'the receiver answered 404'],
    ['hang', 'the connection failed: ECONNRESET'],
    ['redirect', 'the receiver answered 307'],
  ] as const)('tries again, later each time, after %s', async (answer, error) => {
    const { scope, token } = await aTenantAdmin();
    answers.push(answer);
    const id = await raise(scope, 'critical', 'again');
    await until(() => received.length === 1);
    await until(async () => (await rowOf(id)).delivery_error !== null);
    expect(await deliveries(token, '?status=retrying')).toMatchObject({
      total: 1,
      deliveries: [{ alert_id: id, status: 'retrying', attempts: 1, last_error: error }],
    });
    expect(await deliveries(token, '?status=failed')).toEqual({ deliveries: [], total: 0 });
    expect((await deliveries((await aTenantAdmin()).token)).total).toBe(0);
    const { delivered_at, deliver_after } = await rowOf(id);
    expect(delivered_at).toBeNull();
    expect(deliver_after.getTime()).toBeGreaterThan(Date.now() + 5_000);
    // The wait is over: what else happens in the tenant wakes it.
    await test.superuser.query('UPDATE alerts SET deliver_after = now() WHERE id = $1', [id]);
    await raise(scope, 'low', 'something else');
    await until(async () => (await rowOf(id)).delivered_at !== null);
    expect(received).toHaveLength(2);
    expect(received[1]?.body).toBe(received[0]?.body);
  });

  it('gives up after a bounded number of attempts', async () => {
    const { scope, token } = await aTenantAdmin();
    answers.push(...Array<number>(20).fill(503));
    const id = await raise(scope, 'critical', 'never');
    for (let attempt = 1; attempt <= 11; attempt++) {
      await until(() => received.length === attempt);
      await test.superuser.query('UPDATE alerts SET deliver_after = now() WHERE id = $1', [id]);
      await raise(scope, 'low', 'wake');
    }
    await sleep(600);
    expect(received).toHaveLength(11);
    expect(await deliveries(token, '?status=failed')).toMatchObject({
      total: 1,
      deliveries: [{ alert_id: id, status: 'failed', attempts: 11, next_attempt_at: null }],
    });
  });

  it('delivers after a start what was raised before, and only once between two replicas', async () => {
    const { scope } = await aTenantAdmin();
    await controlPlane.db.inTenant(scope, async (tx) => {
      // Not announced on the bus: as another replica's would be.
      await tx.db.alert.createMany({
        data: Array.from({ length: 45 }, (_, i) => ({
          tenantId: scope.tenantId,
          id: `0190aaaa-0000-7000-8000-0000000001${String(i).padStart(2, '0')}`,
          alertType: 'CHAIN_BREAK',
          severity: 'high',
          title: `number ${i}`,
        })),
      });
    });
    const replicas = [0, 1].map(() =>
      createAlertWebhook({
        db: controlPlane.db,
        changes: test.changes,
        url,
        outbound: createOutboundClient({ allow: null, isProduction: true }),
        secret: new Secret(SECRET),
        minSeverity: 'high',
        log: { warn: () => {}, error: () => {} },
        now: () => new Date(),
      }),
    );
    const end = new AbortController();
    const runs = replicas.map((replica) => replica.run(end.signal));
    await until(() => received.length >= 45);
    await sleep(300);
    end.abort();
    await Promise.all(runs);
    expect(new Set(received.map(({ headers }) => headers['x-service-delivery'])).size).toBe(45);
    expect(received).toHaveLength(45);
  });
});
