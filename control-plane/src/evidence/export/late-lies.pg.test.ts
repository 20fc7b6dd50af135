/**
 * What a data plane ships again behind its own lie, or decides by a bundle of a revoked key, leaves
 * packages that begin in between verified; both verifiers warn.
 */
import { uuidv7 } from '@governance/shared/ids';
import { expect, it, vi } from 'vitest';
import { aHoldOpened } from '../../../../tests/support/a-data-plane.ts';
import { aShippingPlane } from '../../../../tests/support/a-shipping-plane.ts';
import { createEvidenceExports } from '../../../../tests/support/evidence-exports.ts';
import { createEvidenceReader } from '../../../../tests/support/evidence-reader.ts';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';

vi.setConfig({ testTimeout: 60_000 });

const at = (ms: number) => new Date(Date.now() + ms).toISOString();
const plane = await testControlPlane({ env: { SERVICE_CHECKPOINT_SECONDS: '1' } });
const { call, aTenantAdmin } = plane;
const exports = createEvidenceExports(plane, { from: at(-3_600_000), to: at(3_600_000) });
const reader = createEvidenceReader();

async function aLyingPlane() {
  const admin = await aTenantAdmin();
  const lying = await aShippingPlane(plane, admin);
  /** What both verifiers say of the records from a time on. */
  const readFrom = async (from: string) => {
    const anchor = await exports.anchorOf(admin.token);
    const [volume = expect.unreachable()] = await exports.exported(admin.token, { from });
    const { verdict, warns } = await reader.read(volume, anchor);
    return { verdict, warns };
  };
  return { admin, lying, readFrom };
}

it('an approved call that is shipped again behind a second use of its approval', async () => {
  const { admin, lying, readFrom } = await aLyingPlane();
  const escalation_id = uuidv7();
  const ofTool = { tool_name: 'delete_thing' };
  const held = lying.decide({ ...ofTool, policy_result: 'escalate', escalation_id });
  lying.writer.append(aHoldOpened(held, { escalation_id }));
  await lying.ship();
  const url = `/api/v1/escalations/${escalation_id}/approve`;
  const { grant } = (await call(url, { token: admin.token, body: {} })).json();
  const used = lying.countShipped();
  lying.decide({ ...ofTool, grant_id: grant.id });
  await lying.ship();
  // Within the time of the approval.
  lying.decide({ ...ofTool, grant_id: grant.id, timestamp: at(60_000) });
  await lying.ship();
  lying.decide({ timestamp: at(61_000) });
  await lying.ship(used);
  expect(await readFrom(at(30_000))).toEqual({
    verdict: 'VERIFIED',
    warns: { 'approval.binding': expect.stringContaining('used twice') },
  });
});

it('a decision by a bundle whose key was revoked', async () => {
  const { lying, readFrom } = await aLyingPlane();
  await lying.ship();
  const token = await plane.superAdminToken();
  const body = { revoke: true, reason: 'stolen' };
  const answer = await call('/api/v1/admin/keys/bundle/rotate', { token, body });
  expect(answer.statusCode, answer.body).toBe(200);
  lying.decide({ timestamp: at(60_000) });
  await lying.ship();
  expect(await readFrom(at(30_000))).toEqual({
    verdict: 'VERIFIED',
    warns: {
      'keys.validity': `the stream ${lying.deploymentId} decided by a bundle whose key was revoked`,
    },
  });
});
