import type { RegistrationRequest } from '@governance/shared/channel/channels';
import { describe, expect, it } from 'vitest';
import { aDataPlane } from '../../../tests/support/a-data-plane.ts';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testAttestedPlanes } from '../../../tests/support/attested-planes.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import type { TenantScope, TenantTransaction } from '../platform/database/tenant-scope.ts';
import { createDataPlaneService } from './data-plane-service.ts';
import { createLocalLink, type LocalLinkParts } from './local-link.ts';

const test = await testDatabase();
const { db } = test;
const attestedPlanes = testAttestedPlanes(test);
const BUNDLE_KEY = { kty: 'EC', kid: 'k1', alg: 'ES256', use: 'sig' as const };
const KEY_HISTORY = { keys: [], rotations: [] };
const FEED_KEY = { kty: 'OKP', kid: 'k2', alg: 'EdDSA', use: 'sig' as const };

function aService() {
  const sealedFor: string[] = [];
  const service = createDataPlaneService({
    db,
    bundleKeys: async () => [BUNDLE_KEY],
    feedKeys: async () => [FEED_KEY],
    keyHistory: async () => KEY_HISTORY,
    facts: {
      addFactsForDataPlane: async (tx: TenantTransaction, { deploymentId }) => {
        // The row is there: what is sealed belongs to a data plane that exists.
        const { tenantId } = tx.scope;
        await tx.db.dataPlane.findUniqueOrThrow({
          where: { tenantId_deploymentId: { tenantId, deploymentId } },
        });
        sealedFor.push(deploymentId);
      },
      takeBackFacts: async () => undefined,
    },
    attestedPlanes,
    changes: { publish: () => undefined },
    now: () => new Date(),
    limitClock: () => performance.now(),
  });
  const list = async (scope: TenantScope) =>
    (await service.list(scope, { limit: 100, offset: 0 })).planes;
  return { ...service, list, sealedFor };
}

const aRequest = (overrides: Partial<RegistrationRequest> = {}) => aRegistration(overrides).request;

async function auditOf(tenantId: string) {
  const { rows } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
     ORDER BY position`,
    [tenantId],
  );
  return rows.map((row) => JSON.parse(row.bytes.toString()));
}

describe('registration', () => {
  it('answers the data plane’s identity and what it may trust', async () => {
    const scope = await aTenant(test);
    const { registerLocalDataPlane, sealedFor } = aService();
    const answer = await registerLocalDataPlane(scope, aRequest());
    expect(answer).toEqual({
      key_history: KEY_HISTORY,
      tenant_id: scope.tenantId,
      deployment_id: expect.any(String),
      region: null,
      bundle_keys: [BUNDLE_KEY],
      feed_keys: [FEED_KEY],
    });
    expect(sealedFor).toEqual([answer.deployment_id]);
    expect(await auditOf(scope.tenantId)).toMatchObject([
      { action: 'data_plane_registered', target: `data_plane/${answer.deployment_id}` },
    ]);
  });

  it('with the same key is the same data plane, and says nothing new', async () => {
    const scope = await aTenant(test);
    const { registerLocalDataPlane, sealedFor } = aService();
    const request = aRequest();
    const first = await registerLocalDataPlane(scope, request);
    expect(await registerLocalDataPlane(scope, request)).toEqual(first);
    expect(sealedFor).toHaveLength(1);
    expect(await auditOf(scope.tenantId)).toHaveLength(1);
  });

  it('sent twenty times at once is one data plane', async () => {
    const scope = await aTenant(test);
    const { registerLocalDataPlane, list } = aService();
    const request = aRequest();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => registerLocalDataPlane(scope, request)),
    );
    expect(new Set(answers.map((answer) => answer.deployment_id)).size).toBe(1);
    expect(await list(scope)).toHaveLength(1);
  });

  it('with another key is another data plane', async () => {
    const scope = await aTenant(test);
    const { registerLocalDataPlane, list } = aService();
    await registerLocalDataPlane(scope, aRequest());
    await registerLocalDataPlane(scope, aRequest());
    expect(await list(scope)).toHaveLength(2);
  });

  it('keeps a new version without sealing again, and seals to a new sealing key', async () => {
    const scope = await aTenant(test);
    const { registerLocalDataPlane, list, sealedFor } = aService();
    const request = aRequest();
    const { deployment_id } = await registerLocalDataPlane(scope, request);
    await registerLocalDataPlane(scope, { ...request, version: '1.1.0' });
    expect(sealedFor).toHaveLength(1);
    await registerLocalDataPlane(scope, {
      ...request,
      version: '1.1.0',
      sealing_key: aRequest().sealing_key,
    });
    expect(sealedFor).toEqual([deployment_id, deployment_id]);
    expect(await list(scope)).toMatchObject([{ deploymentId: deployment_id, version: '1.1.0' }]);
    expect((await auditOf(scope.tenantId)).map((record) => record.action)).toEqual([
      'data_plane_registered',
      'data_plane_updated',
      'data_plane_updated',
    ]);
  });

  it('keeps the public members of a key alone', async () => {
    const scope = await aTenant(test);
    const { registerLocalDataPlane } = aService();
    const request = aRequest();
    await registerLocalDataPlane(scope, {
      ...request,
      signing_key: { ...request.signing_key, d: 'private' },
    });
    const { rows } = await test.superuser.query(
      'SELECT signing_key, token_key FROM data_planes WHERE tenant_id = $1',
      [scope.tenantId],
    );
    expect(JSON.parse(rows[0].signing_key)).toEqual(request.signing_key);
    expect(JSON.parse(rows[0].token_key)).toEqual(request.token_key);
  });

  it('refuses an invalid key before anything is written', async () => {
    const scope = await aTenant(test);
    const { registerLocalDataPlane, list } = aService();
    const request = aRequest();
    const broken = { ...request.signing_key, x: 'AAAA' };
    await expect(
      registerLocalDataPlane(scope, { ...request, signing_key: broken }),
    ).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(await list(scope)).toEqual([]);
  });

  it('does not happen when the credentials cannot be sealed', async () => {
    const scope = await aTenant(test);
    const service = createDataPlaneService({
      db,
      bundleKeys: async () => [BUNDLE_KEY],
      feedKeys: async () => [FEED_KEY],
      keyHistory: async () => KEY_HISTORY,
      facts: {
        addFactsForDataPlane: () => Promise.reject(new Error('no master key')),
        takeBackFacts: async () => undefined,
      },
      attestedPlanes,
      changes: { publish: () => undefined },
      now: () => new Date(),
      limitClock: () => performance.now(),
    });
    await expect(service.registerLocalDataPlane(scope, aRequest())).rejects.toThrow(
      'no master key',
    );
    expect((await service.list(scope, { limit: 100, offset: 0 })).total).toBe(0);
    expect(await auditOf(scope.tenantId)).toEqual([]);
  });
});

describe('the local link', () => {
  it('names its tenant and its data plane in every call', async () => {
    const scope = await aTenant(test);
    const { tenantId } = scope;
    const plane = await aDataPlane(test, scope);
    const asked: unknown[] = [];
    const record =
      (answer: unknown) =>
      async (...request: unknown[]) => {
        asked.push(request);
        return answer as never;
      };
    const { deploymentId } = plane;
    const link = createLocalLink({
      tenantId,
      deploymentId,
      feedReader: {
        readFeed: record({ cursor: 1 }),
        recognise: record({ recognition: 'recognition' }),
        readSnapshot: async function* () {
          yield [];
          return 'end' as never;
        },
      },
      bundleSource: { pullBundle: record('bundle') },
      heartbeats: aService(),
      ingest: { ingestBatch: record('receipt') },
      payloads: { ingest: record('results') },
      readLog: record('log'),
    } satisfies LocalLinkParts);
    const { signal } = new AbortController();
    const from = { cursor: 1, digest: 'd', limit: 2, waitMs: 3, signal };
    expect(await link.readFeed(from)).toEqual({ cursor: 1, recognition: 'recognition' });
    expect(await link.pullBundle({ digest: null, waitMs: 3, signal })).toBe('bundle');
    plane.boot();
    const batch = plane.batch(0);
    expect(await link.shipBatch(batch)).toBe('receipt');
    expect(await link.readLog({ epoch: 1, size: 7, signal })).toBe('log');
    expect(asked).toEqual([
      [{ tenantId, deploymentId, ...from }],
      [tenantId, deploymentId],
      [{ tenantId, deploymentId, digest: null, waitMs: 3, signal }],
      [tenantId, deploymentId, batch],
      [tenantId, { epoch: 1, size: 7 }],
    ]);

    const beat = {
      active_agent_count: 0,
      proxy_rpm_1m: 0,
      escalations_pending: 0,
      opa_bundle_version: 'none',
      uptime_seconds: 1,
    };
    const answer = await link.heartbeat({ deployment_id: deploymentId, ...beat });
    expect(answer).toMatchObject({ received: true });
    await expect(
      link.heartbeat({ deployment_id: crypto.randomUUID(), ...beat }),
    ).rejects.toMatchObject({ code: 'DATA_PLANE_NOT_FOUND' });
  });
});
