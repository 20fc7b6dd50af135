/** Escalations while the clock shows a later time for a moment. */
import { uuidv7 } from '@governance/shared/ids';
import { expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { fillEscalations } from '../../../tests/support/fill-escalations.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createEscalationTimeouts } from './escalation-timeouts.ts';

const HOUR_MS = 3_600_000;
const test = await testDatabase();
const { signal } = new AbortController();

it('end only by a time that has settled', async () => {
  const { tenantId } = await aTenant(test);
  const deploymentId = uuidv7();
  await fillEscalations(test, { tenantId, deploymentId }, 1);
  // The database's clock is three hours ahead of the settled time, as seen from the row.
  let settled = Date.now() - 3 * HOUR_MS;
  await test.superuser.query(
    `UPDATE escalations SET opened_at = now() - interval '2 hours',
       timeout_at = now() - interval '1 hour' WHERE tenant_id = $1`,
    [tenantId],
  );
  const task = createEscalationTimeouts({
    db: test.db,
    now: () => new Date(),
    settledNow: () => new Date(settled),
  });
  const status = async () => {
    await task.run(signal);
    const { rows } = await test.superuser.query<{ status: string }>(
      'SELECT status FROM escalations WHERE tenant_id = $1',
      [tenantId],
    );
    return rows.map((row) => row.status);
  };
  expect(await status()).toEqual(['pending']);
  settled = Date.now();
  expect(await status()).toEqual(['timed_out']);
});
