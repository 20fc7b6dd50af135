/** The volumes of an export of the service are one set, whichever way its records were read. */
import { Readable } from 'node:stream';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { SERVICE_LIMITS } from '@governance/verifier/verify-package';
import { verifySet } from '@governance/verifier/verify-set';
import { expect, it, vi } from 'vitest';
import { anOutcome } from './support/a-data-plane.ts';
import { aShippingPlane } from './support/a-shipping-plane.ts';
import { createEvidenceExports, memberOf } from './support/evidence-exports.ts';
import { testControlPlane } from './support/test-control-plane.ts';

vi.setConfig({ testTimeout: 60_000 });

const time = Date.now();
const plane = await testControlPlane({
  now: () => new Date(time),
  env: { SERVICE_CHECKPOINT_SECONDS: '1' },
});
const scope = {
  from: new Date(time - 3_600_000).toISOString(),
  to: new Date(time + 3_600_000).toISOString(),
};
const { anchorOf, exported, exportedByLeaf } = createEvidenceExports(plane, scope);

type Admin = Awaited<ReturnType<typeof plane.aTenantAdmin>>;

/** A data plane that has shipped four batches, each of which repeats what the one before it had. */
async function recorded(admin: Admin): Promise<void> {
  const { writer, revision, decide, ship } = await aShippingPlane(plane, admin);
  for (const from of [0, 2, 8, 14]) {
    for (let i = 0; i < 3; i++) {
      writer.append(anOutcome(decide().id, { bundle_revision: revision }));
    }
    await ship(from);
  }
}

const verified = (volumes: readonly Buffer[], anchor: TrustAnchor) =>
  verifySet(
    volumes.map((bytes) => Readable.from([bytes])),
    { anchor, issuers: [], limits: SERVICE_LIMITS },
  );

const eventsOf = (volume: Buffer) => memberOf(volume, 'events.ndjson');

it('volumes cut anywhere are a complete set, and none of them may be missing', async () => {
  const admin = await plane.aTenantAdmin();
  const { token } = admin;
  await recorded(admin);
  const [whole] = await exported(token, {});
  const { volumes: alone } = await verified([whole as Buffer], await anchorOf(token));
  const size = alone[0]?.package?.log.end ?? 0;
  expect(size).toBeGreaterThan(3);
  const anchor = await anchorOf(token);
  const volumes = await exportedByLeaf(token, admin.scope.tenantId, size);
  const set = await verified(volumes, anchor);
  expect(set.checks.filter(({ status }) => status !== 'pass')).toEqual([]);
  expect(set.verdict).toBe('VERIFIED');
  for (const missing of volumes.keys()) {
    const rest = volumes.filter((_, n) => n !== missing);
    expect((await verified(rest, anchor)).verdict).toBe('NOT_VERIFIED');
  }
});

it('records that are read one by one, for their payloads, are the lines of whole leaves', async () => {
  const admin = await plane.aTenantAdmin();
  const { token } = admin;
  await recorded(admin);
  const [plain] = await exported(token, {});
  const anchor = await anchorOf(token);
  const [withPayloads] = await exported(token, { include_payloads: true });
  const events = await eventsOf(plain as Buffer);
  expect(events.split('\n').length).toBeGreaterThan(14);
  // The later one goes on with what was asked for meanwhile.
  expect((await eventsOf(withPayloads as Buffer)).startsWith(events)).toBe(true);
  expect((await verified([withPayloads as Buffer], anchor)).verdict).toBe('VERIFIED');
});
