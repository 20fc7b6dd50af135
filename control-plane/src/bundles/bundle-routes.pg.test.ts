import { createPublicKey, hash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import {
  type BundleVerificationKey,
  verifyBundleSignatures,
} from '@governance/shared/bundle/bundle-signature';
import { uuidv7 } from '@governance/shared/ids';
import { describe, expect, it } from 'vitest';
import { attestRows } from '../../../tests/support/attested-planes.ts';
import { findNativeOpa, NO_NATIVE_OPA, startNativeOpa } from '../../../tests/support/native-opa.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';

const { app, call, aTenantAdmin, controlPlane, logged } = await testControlPlane();
const { db } = controlPlane;

/** A data-plane token as its row stands in the database. */
async function aToken(
  { tenantId, ...scope }: TenantScope,
  given: { expiresAt?: Date; revokedAt?: Date } = {},
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await db.inTenant({ ...scope, tenantId }, (tx) =>
    tx.db.dataPlaneToken.create({
      data: { tenantId, id: uuidv7(), label: 'one', tokenHash: hash('sha256', token), ...given },
    }),
  );
  await attestRows(controlPlane, { ...scope, tenantId }, controlPlane.attestedPlanes);
  return token;
}

/** A tenant with one active policy, and so a bundle. */
async function aTenantWithBundle() {
  const admin = await aTenantAdmin();
  const activate = async (name: string) => {
    const answer = await call('/api/v1/policies', {
      token: admin.token,
      body: {
        name,
        rego_content: `package p\n\nallow if input.request.tool_name == "${name}"\n`,
        status: 'active',
      },
    });
    expect(answer.statusCode, answer.body).toBe(201);
  };
  await activate('first');
  const url = `/api/v1/opa/bundle/${admin.scope.tenantId}`;
  return { ...admin, activate, url, dataPlane: await aToken(admin.scope) };
}

describe('GET /api/v1/opa/bundle/{tenant_id}', () => {
  it('gives the signed bundle with its entity tag, and 304 while it is the same', async () => {
    const { url, dataPlane, scope, activate } = await aTenantWithBundle();
    const answer = await call(url, { token: dataPlane });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/gzip',
      etag: `"${hash('sha256', answer.rawPayload, 'hex')}"`,
    });
    const files = await unpackArchive(answer.rawPayload);
    const signatures = files.get('.signatures.json');
    files.delete('.signatures.json');
    const { revision } = JSON.parse(Buffer.from(files.get('.manifest') ?? '').toString());
    expect(answer.headers['x-bundle-revision']).toBe(revision);
    const keys =
      (await controlPlane.serviceKeys.bundleVerificationKeys()) as BundleVerificationKey[];
    verifyBundleSignatures(signatures, files, { keys, scope: scope.tenantId });

    const headers = { 'if-none-match': String(answer.headers.etag) };
    const same = await call(url, { token: dataPlane, headers });
    expect([same.statusCode, same.body, same.headers.etag]).toEqual([304, '', answer.headers.etag]);
    await activate('second');
    const next = await call(url, { token: dataPlane, headers });
    expect(next.statusCode).toBe(200);
    expect(next.headers.etag).not.toBe(answer.headers.etag);
  });

  it('holds a long poll until something changes', async () => {
    const { url, dataPlane, activate } = await aTenantWithBundle();
    const prefer = 'modes=snapshot,delta;wait=30';
    const first = await call(url, { token: dataPlane, headers: { prefer } });
    expect([first.statusCode, first.headers['content-type']]).toEqual([
      200,
      'application/vnd.openpolicyagent.bundles',
    ]);
    const headers = { prefer, 'if-none-match': String(first.headers.etag) };
    let isAnswered = false;
    const polls = Array.from({ length: 50 }, () =>
      call(url, { token: dataPlane, headers }).then((answer) => {
        isAnswered = true;
        return answer;
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isAnswered).toBe(false);
    await activate('second');
    for (const answer of await Promise.all(polls)) {
      expect(answer.statusCode).toBe(200);
      expect(answer.headers.etag).not.toBe(first.headers.etag);
    }
  });

  it('answers 401 to a poll whose token was revoked while it was held', async () => {
    const { url, dataPlane, activate, scope } = await aTenantWithBundle();
    const first = await call(url, { token: dataPlane });
    const headers = { prefer: 'wait=30', 'if-none-match': String(first.headers.etag) };
    const poll = call(url, { token: dataPlane, headers });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await db.inTenant(scope, (tx) =>
      tx.db.dataPlaneToken.updateMany({ where: {}, data: { revokedAt: new Date() } }),
    );
    await activate('second');
    expect((await poll).statusCode).toBe(401);
  });

  it('logs a download, and a poll without news at debug only', async () => {
    const { url, dataPlane } = await aTenantWithBundle();
    const answer = await call(url, { token: dataPlane });
    const headers = { 'if-none-match': String(answer.headers.etag) };
    const same = await call(url, { token: dataPlane, headers });
    const levelOf = (id: unknown) =>
      logged
        .map((line) => JSON.parse(line))
        .find(({ reqId, msg }) => reqId === id && msg === 'request')?.level;
    expect(levelOf(answer.headers['x-request-id'])).toBe(30);
    expect(levelOf(same.headers['x-request-id'])).toBe(20);
  });

  it('answers 304 when the wait is over', async () => {
    const { url, dataPlane } = await aTenantWithBundle();
    const first = await call(url, { token: dataPlane });
    const headers = { prefer: 'wait=1', 'if-none-match': String(first.headers.etag) };
    const began = performance.now();
    const answer = await call(url, { token: dataPlane, headers });
    expect(answer.statusCode).toBe(304);
    expect(performance.now() - began).toBeGreaterThan(900);
  });

  it('has none before the first was built', async () => {
    const { scope } = await aTenantAdmin();
    const answer = await call(`/api/v1/opa/bundle/${scope.tenantId}`, {
      token: await aToken(scope),
    });
    expect([answer.statusCode, answer.json()]).toEqual([
      404,
      { detail: 'No bundle was built for this tenant yet.' },
    ]);
  });

  it('is for the data planes of the tenant alone', async () => {
    const { url, token, scope, dataPlane } = await aTenantWithBundle();
    const other = await aTenantWithBundle();
    const status = async (given: string | undefined) =>
      (await call(url, given === undefined ? {} : { token: given })).statusCode;
    expect(await status(dataPlane)).toBe(200);
    expect(await status(other.dataPlane)).toBe(404);
    expect(await status(undefined)).toBe(401);
    expect(await status('wrong')).toBe(401);
    expect(await status(token)).toBe(401);
    expect(await status(await aToken(scope, { revokedAt: new Date(0) }))).toBe(401);
    expect(await status(await aToken(scope, { expiresAt: new Date(0) }))).toBe(401);
    const missing = await call(`/api/v1/opa/bundle/${uuidv7()}`, { token: dataPlane });
    expect(missing.statusCode).toBe(404);
  });
});

describe('a stock opa', () => {
  it('downloads by long polling and decides by what was activated last', async (context) => {
    const opa = findNativeOpa();
    if (!opa) return context.skip(NO_NATIVE_OPA);
    const { scope, dataPlane, activate } = await aTenantWithBundle();
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    const folder = await mkdtemp(join(tmpdir(), 'bundle-'));
    const { key: signingKey, kid } = await controlPlane.serviceKeys.bundleSigningKey();
    const key = createPublicKey(signingKey).export({ format: 'pem', type: 'spki' }).toString();
    const config = join(folder, 'config.json');
    await writeFile(
      config,
      JSON.stringify({
        services: { governance: { url: origin, credentials: { bearer: { token: dataPlane } } } },
        keys: { [kid]: { key, algorithm: 'ES256', scope: scope.tenantId } },
        bundles: {
          governance: {
            service: 'governance',
            resource: `/api/v1/opa/bundle/${scope.tenantId}`,
            signing: { keyid: kid, scope: scope.tenantId },
            polling: { long_polling_timeout_seconds: 10 },
          },
        },
      }),
    );
    const native = await startNativeOpa(opa, ['--config-file', config]);
    try {
      const decide = async (tool: string) => {
        const decision = await native.decide({ request: { tool_name: tool } });
        return (decision as { decision?: string } | undefined)?.decision;
      };
      await expect.poll(() => decide('first'), { timeout: 10_000 }).toBe('allow');
      expect(await decide('second')).toBe('deny');
      await activate('second');
      await expect.poll(() => decide('second'), { timeout: 8_000 }).toBe('allow');
    } finally {
      await native.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
