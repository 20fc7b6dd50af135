/** A data plane of tests that registers and ships over the control plane's API. */
import { encodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { RegistrationReply } from '@governance/shared/channel/channels';
import { expect } from 'vitest';
import { aDecision, createWriter } from './a-data-plane.ts';
import { aRegistration } from './a-registration.ts';
import type { TestControlPlane } from './test-control-plane.ts';

type Admin = Awaited<ReturnType<TestControlPlane['aTenantAdmin']>>;

/** Registered; it has not booted yet. */
export async function aRegisteredWriter(
  { call }: Pick<TestControlPlane, 'call'>,
  { token, scope }: Admin,
) {
  const issued = await call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'x' } });
  const root: string = issued.json().token;
  const keys = aRegistration();
  const body = keys.provenWith(root);
  const answer = await call('/api/v1/data-planes/register', { token: root, body });
  const { deployment_id: deploymentId, token: own } = RegistrationReply.parse(answer.json());
  const writer = createWriter(scope.tenantId, deploymentId, keys.signingKey);
  return {
    deploymentId,
    writer,
    /** Sends records[from..to) as one batch. */
    send: (from: number, to?: number) =>
      call(`/api/v1/data-planes/${deploymentId}/audit-batches`, {
        token: own.token,
        body: encodeBatch(writer.batch(from, to)),
        headers: { 'content-type': NDJSON },
      }),
  };
}

/** Booted, with decisions by the bundle in force. */
export async function aShippingPlane(
  plane: Pick<TestControlPlane, 'call' | 'controlPlane'>,
  admin: Admin,
) {
  const { deploymentId, writer, send } = await aRegisteredWriter(plane, admin);
  const { revision } = await plane.controlPlane.bundles.requestBuild(admin.scope.tenantId);
  writer.boot();
  let shipped = 0;
  return {
    ...{ deploymentId, writer, revision, send },
    decide: (over: Parameters<typeof aDecision>[0] = {}) => {
      const decision = aDecision({ bundle_revision: revision, ...over });
      writer.append(decision);
      return decision;
    },
    countShipped: () => shipped,
    ship: async (from = shipped) => {
      const batch = await send(from);
      expect(batch.statusCode, batch.body).toBe(200);
      shipped = writer.records.length;
    },
  };
}
