import type { Heartbeat } from '@governance/shared/channel/channels';
import { describe, expect, it } from 'vitest';
import { aDataPlane } from '../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createAlertService } from '../alerts/alert-service.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { heartbeatStore } from './heartbeat-store.ts';
import { createSilenceWatch } from './silence-watch.ts';

let time = Date.now();
const now = () => new Date(time);
const test = await testDatabase(now);
const { db } = test;
const alerts = createAlertService({ db, now });
const { signal } = new AbortController();

async function setUp() {
  const scope = await aTenant(test);
  const plane = await aDataPlane(test, scope);
  const watch = createSilenceWatch({ db, now });
  const beat = () =>
    db.inTenant(scope, (tx) =>
      heartbeatStore(tx).record(
        { heartbeat: { deployment_id: plane.deploymentId } as Heartbeat, isStopped: null },
        now(),
      ),
    );
  /** Looks every 30 s for so long; `during` comes before each look. */
  const pass = async (seconds: number, during: () => Promise<unknown> = async () => {}) => {
    for (let passed = 0; passed < seconds; passed += 30) {
      time += 30_000;
      await during();
      await watch.run(signal);
    }
  };
  return { scope, plane, watch, beat, pass };
}

const listAlerts = async (scope: TenantScope) =>
  (await alerts.list(scope, {}, { limit: 100, offset: 0 })).alerts.filter(
    (alert) => alert.alertType === 'DATA_PLANE_SILENT',
  );
const statuses = async (scope: TenantScope) =>
  (await listAlerts(scope)).map((alert) => alert.status).sort();

describe('a data plane that falls silent', () => {
  it('is reported once, after three missed heartbeats', async () => {
    const { scope, plane, beat, pass, watch } = await setUp();
    await watch.run(signal);
    await pass(180, beat);
    await pass(150);
    expect(await statuses(scope)).toEqual([]);
    await pass(60);
    const [alert] = await listAlerts(scope);
    expect(alert).toMatchObject({ severity: 'high', status: 'open' });
    expect(JSON.parse(alert?.details ?? '')).toMatchObject({ deployment_id: plane.deploymentId });
    await pass(600);
    expect(await statuses(scope)).toEqual(['open']);
  });

  it('and is heard from again resolves its alert; the next silence is reported again', async () => {
    const { scope, beat, pass } = await setUp();
    await pass(180, beat);
    await pass(240);
    expect(await statuses(scope)).toEqual(['open']);
    await pass(30, beat);
    expect(await statuses(scope)).toEqual(['resolved']);
    expect(await listAlerts(scope)).toMatchObject([{ resolvedBy: 'system' }]);
    await pass(240);
    expect(await statuses(scope)).toEqual(['open', 'resolved']);
  });

  it('is reported where its last heartbeat came while the clock was ahead', async () => {
    const { scope, beat, pass, watch } = await setUp();
    await watch.run(signal);
    const day = 86_400_000;
    time += day;
    await beat();
    time -= day;
    await pass(150);
    expect(await statuses(scope)).toEqual([]);
    await pass(60);
    expect(await statuses(scope)).toEqual(['open']);
    await pass(30);
    expect(await statuses(scope)).toEqual(['open']);
    await pass(30, beat);
    expect(await statuses(scope)).toEqual(['resolved']);
  });

  it('is not reported again after somebody resolved it meanwhile', async () => {
    const { scope, beat, pass } = await setUp();
    await pass(180, beat);
    await pass(240);
    const [alert] = await listAlerts(scope);
    await alerts.patch(scope, alert?.id ?? '', { status: 'resolved', resolvedBy: undefined });
    await pass(600);
    expect(await statuses(scope)).toEqual(['resolved']);
    await pass(60, beat);
    await pass(240);
    expect(await statuses(scope)).toEqual(['open', 'resolved']);
  });

  it('and whose every token is revoked resolves its alert: it is expected to be silent', async () => {
    const { scope, plane, beat, pass } = await setUp();
    await pass(180, beat);
    await pass(240);
    expect(await statuses(scope)).toEqual(['open']);
    await test.superuser.query(
      `INSERT INTO data_plane_tokens (tenant_id, id, label, deployment_id, token_hash, revoked_at)
       VALUES ($1, $2, 'x', $2, 'silence-revoked', now())`,
      [scope.tenantId, plane.deploymentId],
    );
    await pass(30);
    expect(await statuses(scope)).toEqual(['resolved']);
    await pass(300);
    expect(await statuses(scope)).toEqual(['resolved']);
  });

  it('is reported by one of two replicas that check at once', async () => {
    const { scope, beat, pass, watch } = await setUp();
    const other = createSilenceWatch({ db, now });
    await other.run(signal);
    await pass(180, async () => {
      await beat();
      await other.run(signal);
    });
    for (let look = 0; look < 8; look++) {
      time += 30_000;
      await Promise.all([watch.run(signal), other.run(signal)]);
    }
    expect(await statuses(scope)).toEqual(['open']);
  });
});

it('is also reported when a round through all tenants takes longer than the interval', async () => {
  const { scope, beat } = await setUp();
  await aTenant(test);
  const slow: typeof db = {
    ...db,
    inTenant: (...args) => {
      time += 40_000;
      return db.inTenant(...args);
    },
  };
  const watch = createSilenceWatch({ db: slow, now });
  await beat();
  for (let look = 0; look < 6; look++) {
    time += 30_000;
    await watch.run(signal);
  }
  expect(await statuses(scope)).toEqual(['open']);
});

describe('silence is not reported', () => {
  it('of one that never spoke, was revoked or forked', async () => {
    const { scope, pass, plane, beat } = await setUp();
    await aDataPlane(test, scope);
    await beat();
    await test.superuser.query(
      `UPDATE data_planes SET status = 'revoked' WHERE deployment_id = $1`,
      [plane.deploymentId],
    );
    await pass(600);
    expect(await statuses(scope)).toEqual([]);
  });

  it('of one whose every token was revoked', async () => {
    const { scope, pass, plane, beat } = await setUp();
    await beat();
    await test.superuser.query(
      `INSERT INTO data_plane_tokens (tenant_id, id, label, deployment_id, token_hash, revoked_at)
       VALUES ($1, $2, 'x', $2, 'silence-test', now())`,
      [scope.tenantId, plane.deploymentId],
    );
    await pass(600);
    expect(await statuses(scope)).toEqual([]);
  });

  it('before the watch itself has run for three heartbeats: it may have been away itself', async () => {
    const { scope, beat, pass, watch } = await setUp();
    await pass(180, beat);
    // An outage of the control plane, in which no heartbeat could come.
    time += 600_000;
    await watch.run(signal);
    await pass(90);
    await pass(300, beat);
    expect(await statuses(scope)).toEqual([]);
  });
});

it('a data plane is not silent because a clock was set forward and back', async () => {
  const { scope, beat, pass, watch } = await setUp();
  await pass(180, beat);
  time += 3_600_000;
  await watch.run(signal);
  time -= 3_600_000;
  await pass(60, beat);
  expect(await statuses(scope)).toEqual([]);
  await pass(300);
  expect(await statuses(scope)).toEqual(['open']);
});

it('ends between two tenants when it is asked to', async () => {
  const { watch, pass, beat, scope } = await setUp();
  await pass(180, beat);
  await pass(150);
  time += 60_000;
  await watch.run(AbortSignal.abort());
  expect(await statuses(scope)).toEqual([]);
});
