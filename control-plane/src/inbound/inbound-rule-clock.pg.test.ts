/** Rules about sources while the machine's clock shows another day for a moment. */
import { expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { inboundFeature } from './inbound-feature.ts';
import { createInboundRuleService, endTrustInServer } from './inbound-rule-service.ts';

const NOON = Date.parse('2026-03-01T12:00:00.000Z');
const DAY_MS = 86_400_000;

let machine = NOON;
const test = await testDatabase(() => new Date(machine));
const { db } = test;
const core = {
  db,
  now: () => new Date(machine),
  settledNow: () => new Date(NOON),
  bundles: { requestBuild: async () => ({ revision: 1, feedSeq: 1 }) },
  applied: { wait: async () => undefined },
};
const rules = createInboundRuleService(core);

it('keeps what blocks a source in the bundle, whatever else is changed meanwhile', async () => {
  machine = NOON;
  const scope = await aTenant(test);
  const blocks = await rules.create(scope, {
    source_pattern: 'web',
    rule_type: 'block',
    expires_in: '24h',
  });
  machine = NOON + 2 * DAY_MS;
  await rules.create(scope, { source_pattern: 'mail', rule_type: 'block' });

  const readBundle = inboundFeature(core).settings?.inbound;
  const inBundle = await db.inTenant(scope, async (tx) => readBundle?.(tx));
  expect(inBundle).toMatchObject({
    rules: [{ source_pattern: 'web' }, { source_pattern: 'mail' }],
  });
  expect(await rules.list(scope)).toHaveLength(2);
  await rules.delete(scope, blocks.id);
  expect(await rules.list(scope)).toHaveLength(1);
});

it('ends the trust in a deleted server that a wrong clock calls expired', async () => {
  machine = NOON;
  const scope = await aTenant(test);
  await rules.create(scope, { source_pattern: 'web', rule_type: 'trust', expires_in: '24h' });
  machine = NOON + 2 * DAY_MS;
  await db.inTenant(scope, (tx) => endTrustInServer(tx, 'web'));
  expect(await rules.list(scope)).toEqual([]);
});
