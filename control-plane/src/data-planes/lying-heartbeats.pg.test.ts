/**
 * What a data plane with a good token and key can say by heartbeat and batch to stop or fill what is
 * not its own. By the public interface alone.
 */
import { encodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { RegistrationReply } from '@governance/shared/channel/channels';
import { uuidv7 } from '@governance/shared/ids';
import { beforeEach, expect, it } from 'vitest';
import { aDecision, createWriter } from '../../../tests/support/a-data-plane.ts';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { MAX_STOP_ALERTS } from './heartbeat-receiver.ts';

let now = new Date();
const { call, aTenantAdmin } = await testControlPlane({ now: () => now });
const HASH = 'a'.repeat(64);
/** PostgreSQL's integer ends before. */
const FAR = 3_000_000_000;

let admin: string;
let tenantId: string;
beforeEach(async () => {
  const made = await aTenantAdmin();
  admin = made.token;
  tenantId = made.scope.tenantId;
});

async function aPlane() {
  const body = { label: 'x' };
  const issued = await call('/api/v1/admin/data-plane-tokens', { token: admin, body });
  const root = issued.json().token;
  const keys = aRegistration();
  const answer = await call('/api/v1/data-planes/register', {
    token: root,
    body: keys.provenWith(root),
  });
  const { deployment_id: id, token } = RegistrationReply.parse(answer.json());
  const writer = createWriter(tenantId, id, keys.signingKey);
  writer.boot();
  const beat = (over: object) =>
    call(`/api/v1/data-planes/${id}/heartbeat`, {
      token: token.token,
      body: {
        deployment_id: id,
        active_agent_count: 1,
        proxy_rpm_1m: 0,
        escalations_pending: 0,
        opa_bundle_version: '1',
        uptime_seconds: 1,
        ...over,
      },
    });
  let shipped = 0;
  const ship = async () => {
    const batch = writer.batch(shipped);
    shipped = writer.records.length;
    return call(`/api/v1/data-planes/${id}/audit-batches`, {
      token: token.token,
      body: encodeBatch(batch),
      headers: { 'content-type': NDJSON },
    });
  };
  return { writer, beat, ship };
}

const verify = () => call('/api/v1/audit/verify?fresh=true', { token: admin });
const alertsOf = async () =>
  (await call('/api/v1/monitor/alerts?limit=1000', { token: admin })).json().alerts;

it('stops no verification by naming a position that does not exist', async () => {
  const { beat, ship } = await aPlane();
  expect((await ship()).statusCode).toBe(200);
  expect((await beat({ shipped: { epoch: FAR, seq: 1, head: HASH } })).statusCode).toBe(200);
  expect((await beat({ stream: { state: 'x', is_stopped: true } })).statusCode).toBe(200);
  const verified = await verify();
  expect(verified.statusCode, verified.body).toBe(200);
  expect(verified.json()).toMatchObject({ valid: true });
});

it('is answered, and breaks nothing, when it reports an impossible admin chain', async () => {
  const { beat } = await aPlane();
  for (const epoch of [1, FAR]) {
    const statement = {
      type: 'admin_head',
      v: 1,
      tenant_id: tenantId,
      stream: uuidv7(),
      epoch,
      seq: Number.MAX_SAFE_INTEGER,
      hash: HASH,
      time: now.toISOString(),
    };
    const signed = { statement, kid: 'x', signature: 'y' };
    const heads = { heads: [signed], went_back: { known: signed, told: signed } };
    expect((await beat({ admin_heads: heads })).statusCode).toBe(200);
  }
  expect((await verify()).json()).toMatchObject({ valid: true, breaks: [] });
  expect(await alertsOf()).toEqual([]);
});

it('begins no epoch that does not exist', async () => {
  const { writer, ship } = await aPlane();
  expect((await ship()).statusCode).toBe(200);
  const previous = { epoch: 1, last_seq: 1, head: writer.head.head };
  writer.head.epoch = FAR;
  writer.head.seq = 0;
  writer.append({
    type: 'epoch_start',
    id: uuidv7(),
    timestamp: now.toISOString(),
    bundle_revision: null,
    previous,
    reason: 'boot',
    writer_version: 'x',
  });
  expect((await ship()).statusCode).toBe(422);
});

it('cannot fill the alerts or the admin chain by stopping and running in turn', async () => {
  const { beat } = await aPlane();
  const say = (isStopped: boolean) =>
    beat({
      stream: { state: 'x', is_stopped: isStopped, backlog: 1, last_error: null, stopped_at: null },
    });
  for (let i = 0; i < 3 * MAX_STOP_ALERTS; i++) {
    await say(true);
    await say(false);
  }
  let told = await alertsOf();
  expect(told).toHaveLength(MAX_STOP_ALERTS);
  const open = () => told.filter(({ status }: { status: string }) => status === 'open');
  expect(open()).toMatchObject([{ alert_type: 'STREAM_STOPPED' }]);
  const { records_verified: records } = (await verify()).json();
  expect(records).toBeLessThan(4 * MAX_STOP_ALERTS);
  // Once it has been calm for long enough the last one ends too.
  now = new Date(now.getTime() + 3 * 3_600_000);
  await say(false);
  told = await alertsOf();
  expect(open()).toEqual([]);
});

it('cannot make a list of alerts too large to be read', async () => {
  const { writer, ship } = await aPlane();
  const details = { text: '€'.repeat(70_000) };
  for (let i = 0; i < 20; i++) {
    writer.append({
      type: 'alert',
      id: uuidv7(),
      timestamp: new Date().toISOString(),
      bundle_revision: null,
      alert_type: 'POLICY_FAILED',
      severity: 'high',
      agent_id: null,
      title: `${'x'.repeat(498)}😀 and more`,
      details,
      dedupe_key: null,
    });
  }
  expect((await ship()).statusCode).toBe(200);
  const alerts = await alertsOf();
  expect(alerts).toHaveLength(20);
  for (const alert of alerts) {
    expect(alert.title).toHaveLength(500);
    expect(alert.details).toMatchObject({ record: { stream: writer.deploymentId, epoch: 1 } });
  }
  expect((await verify()).json()).toMatchObject({ valid: true, records_quarantined: 0 });
});

it('cannot make a page of events that fills the memory: the list says how many events fit', async () => {
  const { writer, ship } = await aPlane();
  for (let batch = 0; batch < 8; batch++) {
    for (let i = 0; i < 20; i++) {
      writer.append(aDecision({ policy_reason: 'x'.repeat(230_000) }));
    }
    expect((await ship()).statusCode).toBe(200);
  }
  const list = (limit: number) => call(`/api/v1/audit/events?limit=${limit}`, { token: admin });
  const refused = await list(1_000);
  expect(refused.statusCode).toBe(422);
  const [, fitting] = /ask for (\d+) at most/.exec(refused.json().detail) ?? [];
  expect(Number(fitting)).toBeGreaterThan(100);
  expect((await list(Number(fitting))).json().events).toHaveLength(Number(fitting));
  expect((await list(Number(fitting) + 1)).statusCode).toBe(422);
});
