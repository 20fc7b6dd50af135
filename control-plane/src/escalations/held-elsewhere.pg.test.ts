/** What waits at one data plane is told to the tenant's other ones, and how it ended. */
import { FEED_START } from '@governance/shared/channel/feed-chain';
import { uuidv7 } from '@governance/shared/ids';
import { expect, it, vi } from 'vitest';
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
  const { tenantId } = scope;
  const plane = await aDataPlane(test, scope);
  plane.boot();
  let shipped = 0;
  const held = async (what: 'call' | 'result', binding: string | null) => {
    const id = uuidv7();
    const decision = aDecision({ policy_result: what === 'call' ? 'escalate' : 'allow' });
    plane.append(decision);
    const over = { escalation_id: id, binding };
    plane.append(what === 'call' ? aHoldOpened(decision, over) : aResultHeld(decision, over));
    await controlPlane.ingest.ingestBatch(tenantId, plane.deploymentId, plane.batch(shipped));
    shipped = plane.records.length;
    return id;
  };
  const fact = async (binding: string) => {
    const request = { cursor: 0, digest: FEED_START, limit: 500, waitMs: 0 };
    const { signal } = new AbortController();
    const page = await controlPlane.feedReader.readFeed({ tenantId, ...request, signal });
    const ofKind = page.entries.filter(({ kind }) => kind === 'optional.held_call');
    return ofKind.findLast(({ key }) => key === binding)?.value;
  };
  const announced = (binding: string, expected: object | null) =>
    vi.waitFor(
      async () => {
        const value = await fact(binding);
        if (expected === null) expect(value).toBeNull();
        else expect(value).toMatchObject(expected);
      },
      { timeout: 10_000 },
    );
  const post = (path: string, body: object) => call(path, { token, method: 'POST', body });
  return { tenantId, plane, held, fact, announced, post };
}

it('tells of a call while it is pending, then how it ended, and takes that back', async () => {
  const one = await aTenantWithPlane();
  const binding = 'ab'.repeat(32);
  const id = await one.held('call', binding);
  const place = { escalation_id: id, deployment_id: one.plane.deploymentId, held: 'call' };
  await one.announced(binding, { ...place, status: 'pending', told_until: null });
  await one.post(`/api/v1/escalations/${id}/deny`, {});
  await one.announced(binding, { ...place, status: 'denied', told_until: expect.any(String) });
  await test.superuser.query(
    `UPDATE escalations SET resolved_at = resolved_at - interval '2 hours' WHERE id = $1`,
    [id],
  );
  await one.announced(binding, null);
});

it('leaves the fact to a later hold of the same call', async () => {
  const one = await aTenantWithPlane();
  const binding = 'ef'.repeat(32);
  const first = await one.held('call', binding);
  await one.announced(binding, { escalation_id: first });
  await one.post(`/api/v1/escalations/${first}/deny`, {});
  const second = await one.held('call', binding);
  await one.announced(binding, { escalation_id: second, status: 'pending' });
  await test.superuser.query(
    `UPDATE escalations SET resolved_at = resolved_at - interval '2 hours' WHERE id = $1`,
    [first],
  );
  await vi.waitFor(
    async () => {
      const { rows } = await test.superuser.query(
        'SELECT is_announced FROM escalations WHERE id = $1',
        [first],
      );
      expect(rows).toEqual([{ is_announced: false }]);
    },
    { timeout: 10_000 },
  );
  expect(await one.fact(binding)).toMatchObject({ escalation_id: second });
});

it('tells of a held result, and nothing of a hold without a binding', async () => {
  const one = await aTenantWithPlane();
  await one.held('call', null);
  const binding = 'cd'.repeat(32);
  const id = await one.held('result', binding);
  await one.announced(binding, { escalation_id: id, held: 'result', status: 'pending' });
  await one.post(`/api/v1/inbound/holds/${id}/resolve`, { resolution: 'allow_original' });
  await one.announced(binding, { status: 'approved' });
  const request = { cursor: 0, digest: FEED_START, limit: 500, waitMs: 0 };
  const { signal } = new AbortController();
  const { entries } = await controlPlane.feedReader.readFeed({
    tenantId: one.tenantId,
    ...request,
    signal,
  });
  const keys = entries.filter(({ kind }) => kind === 'optional.held_call').map(({ key }) => key);
  expect(new Set(keys)).toEqual(new Set([binding]));
});
