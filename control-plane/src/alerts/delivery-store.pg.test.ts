import type { Severity } from '@governance/shared/ledger/ledger-record';
import { afterEach, expect, it, vi } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { DELIVERY_STATUSES, deliveryStatusOf } from './delivery-status.ts';
import { claimAlerts, listDeliveries } from './delivery-store.ts';
import { raiseAlert } from './raise-alert.ts';

const DAY = 86_400_000;
const test = await testDatabase();
afterEach(() => void vi.useRealTimers());

const raise = (scope: TenantScope, title: string) =>
  test.db.inTenant(scope, (tx) =>
    raiseAlert(tx, {
      ...{ alertType: 'CHAIN_BREAK', severity: 'high', agentId: null, title, details: {} },
      ...{ dedupeKey: null, now: new Date() },
    }),
  );

const claim = (scope: TenantScope) =>
  test.db.inTenant(scope, async (tx) => {
    const severities: Severity[] = ['high'];
    const { alerts } = await claimAlerts(tx, severities);
    return alerts.map(({ view }) => view.title).sort();
  });

it.each([-2, 2])('posts what a process raised whose clock is %s days off', async (days) => {
  const scope = await aTenant(test);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * DAY });
  await raise(scope, 'off');
  const { rows } = await test.superuser.query(
    'SELECT deliver_after <= now() AS due FROM alerts WHERE tenant_id = $1',
    [scope.tenantId],
  );
  expect(rows).toEqual([{ due: true }]);
  expect(await claim(scope)).toEqual(['off']);
});

it('gives up what was tried long ago, and nothing for a clock that was days behind', async () => {
  const scope = await aTenant(test);
  const ages = { 'long ago': 190, 'eight days': 8, 'six days': 6 };
  for (const [title, days] of Object.entries(ages)) {
    await raise(scope, title);
    await test.superuser.query(
      `UPDATE alerts SET delivery_attempts = 3, attempted_at = now() - $3::int * interval '1 day',
         deliver_after = now() - $3::int * interval '1 day' WHERE tenant_id = $1 AND title = $2`,
      [scope.tenantId, title, days],
    );
  }
  const listed = Object.fromEntries(
    await Promise.all(
      DELIVERY_STATUSES.map(async (status) => {
        const page = { limit: 50, offset: 0 };
        const found = await test.db.inTenant(scope, (tx) => listDeliveries(tx, status, page));
        expect(found.alerts.map((alert) => deliveryStatusOf(alert, found.at))).toEqual(
          found.alerts.map(() => status),
        );
        return [status, found.alerts.map(({ title }) => title)];
      }),
    ),
  );
  expect(listed).toEqual({
    delivered: [],
    retrying: ['six days'],
    failed: ['eight days', 'long ago'],
  });
  expect(await claim(scope)).toEqual(['six days']);
});
