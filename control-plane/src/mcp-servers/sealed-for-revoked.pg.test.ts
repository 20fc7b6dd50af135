/**
 * Who was revoked or forked has nothing sealed for it any more: what was leaves the feed, and what
 * changes later is not made for it, in whatever order that happens.
 */
import { RegistrationReply } from '@governance/shared/channel/channels';
import { SealedUpstreamCredential } from '@governance/shared/mcp/upstream-credential';
import { compactDecrypt } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { aRegistration, type TestRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, aTenantAdmin, controlPlane, test } = await testControlPlane();
const TOKENS = '/api/v1/admin/data-plane-tokens';

let admin: Awaited<ReturnType<typeof aTenantAdmin>>;
let root: { id: string; token: string };
beforeEach(async () => {
  admin = await aTenantAdmin();
  root = await issue();
  const body = {
    server_id: 'files',
    transport: 'streamable-http',
    url: 'https://mcp.example/mcp',
    credential: { type: 'bearer', token: 'the first' },
  };
  expect((await call('/api/v1/mcp-servers', { token: admin.token, body })).statusCode).toBe(201);
});

const issue = async (): Promise<{ id: string; token: string }> =>
  (await call(TOKENS, { token: admin.token, body: { label: 'x' } })).json();

const revoke = async (id: string) =>
  expect((await call(`${TOKENS}/${id}`, { token: admin.token, method: 'DELETE' })).statusCode).toBe(
    204,
  );

async function rotate(token: string | null): Promise<void> {
  const body = { credential: token === null ? null : { type: 'bearer', token } };
  const url = '/api/v1/mcp-servers/files';
  const answer = await call(url, { token: admin.token, method: 'PATCH', body });
  expect(answer.statusCode, answer.body).toBe(200);
}

async function register(plane: TestRegistration, token = root.token): Promise<string> {
  const body = plane.provenWith(token);
  const answer = await call('/api/v1/data-planes/register', { token, body });
  expect(answer.statusCode, answer.body).toBe(200);
  return RegistrationReply.parse(answer.json()).deployment_id;
}

/** The token that the deployment was given. */
async function childOf(deploymentId: string): Promise<string> {
  const { tokens } = (await call(TOKENS, { token: admin.token })).json();
  return tokens.find((one: { deployment_id: string }) => one.deployment_id === deploymentId).id;
}

/** All that was ever put into the feed for a deployment, in order; null is a tombstone. */
async function entriesFor(deploymentId: string): Promise<(string | null)[]> {
  const { rows } = await test.superuser.query<{ value: string | null }>(
    `SELECT value FROM feed_entries
     WHERE tenant_id = $1 AND kind = 'upstream_credential' AND key = $2 ORDER BY seq`,
    [admin.scope.tenantId, `${deploymentId}/files`],
  );
  return rows.map(({ value }) => value);
}

/** What the newest entry holds, opened with the plane's key; null where there is none any more. */
async function sealedFor(plane: TestRegistration, deploymentId: string): Promise<unknown> {
  const value = (await entriesFor(deploymentId)).at(-1);
  if (!value) return null;
  const { plaintext } = await compactDecrypt(JSON.parse(value).jwe, plane.sealingKey);
  const opened = SealedUpstreamCredential.parse(JSON.parse(Buffer.from(plaintext).toString()));
  return opened.credential.type === 'bearer' ? opened.credential.token : opened.credential;
}

describe('a revocation', () => {
  it('of a deployment takes back what was sealed for it, and nothing is made for it again', async () => {
    const [gone, stays] = [aRegistration(), aRegistration()];
    const [goneId, staysId] = [await register(gone), await register(stays)];
    expect(await sealedFor(gone, goneId)).toBe('the first');
    await revoke(await childOf(goneId));
    expect(await sealedFor(gone, goneId)).toBeNull();
    const entries = await entriesFor(goneId);

    await rotate('the second');
    await rotate(null);
    await rotate('the third');
    expect(await entriesFor(goneId)).toEqual(entries);
    expect(await sealedFor(stays, staysId)).toBe('the third');
  });

  it('of a root takes back what was sealed for all that came of it, until they come back', async () => {
    const [one, other, elsewhere] = [aRegistration(), aRegistration(), aRegistration()];
    const ids = [await register(one), await register(other)] as const;
    const second = await issue();
    const elsewhereId = await register(elsewhere, second.token);
    await revoke(root.id);
    for (const id of ids) expect((await entriesFor(id)).at(-1)).toBeNull();
    expect(await sealedFor(elsewhere, elsewhereId)).toBe('the first');

    await rotate('the second');
    for (const id of ids) expect((await entriesFor(id)).at(-1)).toBeNull();
    expect(await register(one, second.token)).toBe(ids[0]);
    expect(await sealedFor(one, ids[0])).toBe('the second');
    expect((await entriesFor(ids[1])).at(-1)).toBeNull();
    await rotate('the third');
    expect(await sealedFor(one, ids[0])).toBe('the third');
    // Known and unrevoked: registering again seals nothing anew.
    const entries = await entriesFor(ids[0]);
    await register(one, second.token);
    expect(await entriesFor(ids[0])).toEqual(entries);
  });

  it('that comes while a credential is rotated leaves nothing sealed', async () => {
    for (let round = 0; round < 5; round++) {
      const plane = aRegistration();
      const id = await register(plane);
      const child = await childOf(id);
      await Promise.all([rotate(`round ${round}`), revoke(child), rotate(`round ${round} again`)]);
      expect(await sealedFor(plane, id)).toBeNull();
    }
  });

  it('whose taking back failed is made good by doing it again', async () => {
    const plane = aRegistration();
    const id = await register(plane);
    await test.superuser.query(
      `UPDATE data_plane_tokens SET revoked_at = now() WHERE tenant_id = $1 AND deployment_id = $2`,
      [admin.scope.tenantId, id],
    );
    expect(await sealedFor(plane, id)).toBe('the first');
    await revoke(await childOf(id));
    expect(await sealedFor(plane, id)).toBeNull();
  });
});

it('a fork takes back what was sealed for both writers', async () => {
  const plane = aRegistration();
  const id = await register(plane);
  await controlPlane.dataPlanes.markForked(admin.scope.tenantId, id);
  expect(await sealedFor(plane, id)).toBeNull();
  await rotate('the second');
  expect(await sealedFor(plane, id)).toBeNull();
});
