/** The volumes of an export of the service are one set, whichever way its records were read. */
import { Readable } from 'node:stream';
import { encodeBatch, NDJSON } from '@governance/shared/channel-routes';
import { gunzip } from '@governance/shared/evidence/gunzip';
import { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { readUstar } from '@governance/shared/evidence/ustar';
import { uuidv7 } from '@governance/shared/ids';
import { SERVICE_LIMITS } from '@governance/verifier/verify-package';
import { verifySet } from '@governance/verifier/verify-set';
import { expect, it, vi } from 'vitest';
import { aDecision, anOutcome, createWriter } from './support/a-data-plane.ts';
import { aRegistration } from './support/a-registration.ts';
import { testControlPlane } from './support/test-control-plane.ts';

vi.setConfig({ testTimeout: 60_000 });

const time = Date.now();
const { call, test, aTenantAdmin, controlPlane } = await testControlPlane({
  now: () => new Date(time),
  env: { SERVICE_CHECKPOINT_SECONDS: '1' },
});
const PACKAGES = '/api/v1/evidence/packages';
const scope = {
  from: new Date(time - 3_600_000).toISOString(),
  to: new Date(time + 3_600_000).toISOString(),
};

type Admin = Awaited<ReturnType<typeof aTenantAdmin>>;

/** A data plane that has shipped four batches, each of which repeats what the one before it had. */
async function recorded({ token, scope: { tenantId } }: Admin): Promise<void> {
  const issued = await call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'x' } });
  const root: string = issued.json().token;
  const keys = aRegistration();
  const answer = await call('/api/v1/data-planes/register', {
    ...{ token: root, body: keys.provenWith(root) },
  });
  const { deployment_id: deploymentId, token: own } = answer.json();
  const { revision } = await controlPlane.bundles.requestBuild(tenantId);
  const writer = createWriter(tenantId, deploymentId, keys.signingKey);
  writer.boot();
  for (const from of [0, 2, 8, 14]) {
    for (let i = 0; i < 3; i++) {
      const decision = aDecision({ bundle_revision: revision });
      writer.append(decision);
      writer.append(anOutcome(decision.id, { bundle_revision: revision }));
    }
    const batch = await call(`/api/v1/data-planes/${deploymentId}/audit-batches`, {
      token: own.token,
      body: encodeBatch(writer.batch(from)),
      headers: { 'content-type': NDJSON },
    });
    expect(batch.statusCode, batch.body).toBe(200);
  }
}

const anchorOf = async (token: string) =>
  TrustAnchor.parse((await call('/api/v1/evidence/trust-anchor', { token })).json());

/** Once it is made: its volumes. */
async function volumesOf(token: string, id: string): Promise<Buffer[]> {
  const made = await vi.waitFor(
    async () => {
      const { status, volumes, failure } = (await call(`${PACKAGES}/${id}`, { token })).json();
      expect(status, failure ?? '').toBe('ready');
      return volumes as { download: string }[];
    },
    { timeout: 40_000, interval: 100 },
  );
  const bytes: Buffer[] = [];
  for (const { download } of made) bytes.push((await call(download, { token })).rawPayload);
  return bytes;
}

async function exported(token: string, asked: object): Promise<Buffer[]> {
  const answer = await call(PACKAGES, { token, body: { ...scope, ...asked } });
  expect(answer.statusCode, answer.body).toBe(202);
  return volumesOf(token, answer.json().id);
}

const verified = (volumes: readonly Buffer[], anchor: TrustAnchor) =>
  verifySet(
    volumes.map((bytes) => Readable.from([bytes])),
    { anchor, issuers: [], limits: SERVICE_LIMITS },
  );

async function eventsOf(volume: Buffer): Promise<string> {
  for await (const { name, content } of readUstar(
    gunzip(Readable.from([volume]), SERVICE_LIMITS),
  )) {
    const pieces: Buffer[] = [];
    for await (const piece of content) pieces.push(piece);
    if (name === 'events.ndjson') return Buffer.concat(pieces).toString('utf8');
  }
  return expect.unreachable();
}

it('volumes that were cut anywhere are a whole set, and none of them can be missing', async () => {
  const admin = await aTenantAdmin();
  const { token } = admin;
  await recorded(admin);
  const [whole] = await exported(token, {});
  const { volumes: alone } = await verified([whole as Buffer], await anchorOf(token));
  const size = alone[0]?.package?.log.end ?? 0;
  expect(size).toBeGreaterThan(3);
  const anchor = await anchorOf(token);
  const id = uuidv7();
  const ends = Array.from({ length: size }, (_, leaf) => leaf + 1);
  const plan = { log_epoch: 1, size, start: 0, ends, data_key_id: null };
  // As a run that has ended left it: a volume for each leaf.
  await test.superuser.query(
    `INSERT INTO evidence_packages (tenant_id, id, status, requested_by, requested_at, from_time,
       to_time, include_payloads, attempts, alive_at, expires_at, plan)
     VALUES ($1, $2, 'running', 'somebody', now(), $3, $4, false, 1, now() - interval '1 hour',
       now() + interval '1 day', $5)`,
    [admin.scope.tenantId, id, scope.from, scope.to, plan],
  );
  const volumes = await volumesOf(token, id);
  expect(volumes).toHaveLength(size);
  const set = await verified(volumes, anchor);
  expect(set.checks.filter(({ status }) => status !== 'pass')).toEqual([]);
  expect(set.verdict).toBe('VERIFIED');
  for (const missing of volumes.keys()) {
    const rest = volumes.filter((_, n) => n !== missing);
    expect((await verified(rest, anchor)).verdict).toBe('NOT_VERIFIED');
  }
});

it('records that are read one by one, for their payloads, are the lines of whole leaves', async () => {
  const admin = await aTenantAdmin();
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
