import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import { SealedUpstreamCredential } from '@governance/shared/mcp/upstream-credential';
import { Secret } from '@governance/shared/settings';
import { compactDecrypt, importJWK, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { attestPlanes, testAttestedPlanes } from '../../../tests/support/attested-planes.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createSealedFactTurns, sealFor } from '../data-planes/sealed-facts.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { upstreamCredentialContext } from '../platform/keys/ciphertext-kinds.ts';
import { createMasterKey } from '../platform/keys/master-key.ts';
import { createMcpServerService, MAX_SERVERS, readServerSettings } from './mcp-server-service.ts';
import { readOtherServerIds } from './retired-servers.ts';

const test = await testDatabase();
const { db, superuser } = test;
const attestedPlanes = testAttestedPlanes(test);

const masterKey = createMasterKey(new Secret(Buffer.alloc(32, 7)));
const waited: unknown[] = [];
const servers = createMcpServerService({
  db,
  masterKey,
  bundles: { requestBuild: async () => ({ revision: 9, feedSeq: 1 }) },
  applied: { wait: async (_tenant, target) => void waited.push(target) },
  sealedFactTurns: createSealedFactTurns(),
  prepareTargets: attestedPlanes.prepareTargets,
  endWithServer: async () => {},
  now: () => new Date(),
});

const TOKEN = 'a-long-upstream-secret-0123456789';
const bearer = (token = TOKEN) => ({ type: 'bearer' as const, token });
const anHttpServer = (serverId: string, credential?: ReturnType<typeof bearer>) => ({
  server_id: serverId,
  transport: 'streamable-http' as const,
  url: 'https://mcp.example.com/mcp?tenant=1',
  credential,
  enabled: true,
});

interface Plane {
  deploymentId: string;
  privateKey: KeyObject;
}

/** A data plane with a real sealing key, registered as the product does it. */
async function aPlane(scope: TenantScope): Promise<Plane> {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const deploymentId = uuidv7();
  const sealingKey = publicKey.export({ format: 'jwk' }) as JWK;
  const { attest } = await attestedPlanes.prepare();
  await db.inTenant(scope, async (tx) => {
    await tx.db.dataPlane.create({
      data: {
        tenantId: scope.tenantId,
        deploymentId,
        signingKey: '{}',
        sealingKey: JSON.stringify(sealingKey),
      },
    });
    await attestPlanes(tx, attest, [deploymentId]);
    await servers.sealCredentialsFor(tx, { deploymentId, sealingKey });
  });
  return { deploymentId, privateKey };
}

/** What the feed last said of a server's credential to a plane, opened with the plane's key. */
async function credentialAt(scope: TenantScope, plane: Plane, serverId: string) {
  const { rows } = await superuser.query<{ value: string | null }>(
    `SELECT value FROM feed_entries
     WHERE tenant_id = $1 AND kind = 'upstream_credential' AND key = $2 ORDER BY seq DESC LIMIT 1`,
    [scope.tenantId, `${plane.deploymentId}/${serverId}`],
  );
  const value = rows[0]?.value;
  if (!value) return value;
  const { jwe } = JSON.parse(value) as { jwe: string };
  const { plaintext } = await compactDecrypt(
    jwe,
    await importJWK(plane.privateKey.export({ format: 'jwk' }), 'ECDH-ES'),
    { keyManagementAlgorithms: ['ECDH-ES'], contentEncryptionAlgorithms: ['A256GCM'] },
  );
  return SealedUpstreamCredential.parse(JSON.parse(Buffer.from(plaintext).toString()));
}

describe('a credential', () => {
  it('reaches every data plane of the tenant, opened by none but the one it is for', async () => {
    const scope = await aTenant(test);
    const planes = [await aPlane(scope), await aPlane(scope)] as const;
    const stranger = await aPlane(await aTenant(test));
    await servers.create(scope, anHttpServer('files', bearer()));
    for (const plane of planes) {
      expect(await credentialAt(scope, plane, 'files')).toEqual({
        tenant_id: scope.tenantId,
        deployment_id: plane.deploymentId,
        server_id: 'files',
        origin: 'https://mcp.example.com',
        credential: bearer(),
      });
    }
    const swapped = { deploymentId: planes[0].deploymentId, privateKey: planes[1].privateKey };
    await expect(credentialAt(scope, swapped, 'files')).rejects.toThrow('decryption');
    expect(await credentialAt(scope, stranger, 'files')).toBeUndefined();
  });

  it('reaches a data plane that registers later', async () => {
    const scope = await aTenant(test);
    await servers.create(scope, anHttpServer('files', bearer()));
    await servers.create(scope, anHttpServer('open'));
    const plane = await aPlane(scope);
    expect(await credentialAt(scope, plane, 'files')).toMatchObject({ credential: bearer() });
    expect(await credentialAt(scope, plane, 'open')).toBeUndefined();
  });

  it('reaches data planes that register while it changes', async () => {
    const scope = await aTenant(test);
    await servers.create(scope, anHttpServer('files', bearer('the-first-secret')));
    const [one, , two] = await Promise.all([
      aPlane(scope),
      servers.change(scope, 'files', { credential: bearer('the-second-secret') }),
      aPlane(scope),
    ]);
    for (const plane of [one, two]) {
      expect(await credentialAt(scope, plane, 'files')).toMatchObject({
        credential: bearer('the-second-secret'),
      });
    }
  });

  it('is taken back when it or its server is removed', async () => {
    const scope = await aTenant(test);
    const plane = await aPlane(scope);
    await servers.create(scope, anHttpServer('one', bearer()));
    await servers.create(scope, anHttpServer('two', bearer()));
    await servers.change(scope, 'one', { credential: null });
    await servers.delete(scope, 'two');
    expect(await credentialAt(scope, plane, 'one')).toBeNull();
    expect(await credentialAt(scope, plane, 'two')).toBeNull();
    expect((await servers.get(scope, 'one')).credential).toBeNull();
    await expect(servers.get(scope, 'two')).rejects.toMatchObject({ code: 'MCP_SERVER_NOT_FOUND' });
  });

  it('is nowhere in the database or the audit chain in clear text', async () => {
    const scope = await aTenant(test);
    await aPlane(scope);
    await servers.create(scope, anHttpServer('files', bearer()));
    await servers.change(scope, 'files', { credential: bearer(`${TOKEN}-two`) });
    const { rows } = await superuser.query<{ bytes: Buffer; whole: string }>(
      `SELECT bytes, '' AS whole FROM ledger_records WHERE tenant_id = $1
       UNION ALL SELECT credential_ciphertext, row_to_json(s)::text FROM mcp_servers s WHERE tenant_id = $1
       UNION ALL SELECT ''::bytea, row_to_json(f)::text FROM feed_entries f WHERE tenant_id = $1`,
      [scope.tenantId],
    );
    expect(rows.length).toBeGreaterThan(4);
    for (const { bytes, whole } of rows) {
      expect(bytes.toString('latin1')).not.toContain(TOKEN);
      expect(whole).not.toContain(TOKEN);
      expect(whole).not.toContain(Buffer.from(TOKEN).toString('hex'));
    }
  });

  it('moved to another server or tenant in the database does not open', async () => {
    const [scope, other] = [await aTenant(test), await aTenant(test)];
    await servers.create(scope, anHttpServer('files', bearer()));
    await servers.create(other, anHttpServer('files'));
    await superuser.query(
      `UPDATE mcp_servers SET credential_ciphertext =
         (SELECT credential_ciphertext FROM mcp_servers WHERE tenant_id = $1) WHERE tenant_id = $2`,
      [scope.tenantId, other.tenantId],
    );
    await expect(servers.get(other, 'files')).rejects.toThrow();
  });

  it('of a server whose address another hand moved in the database goes nowhere', async () => {
    const scope = await aTenant(test);
    await servers.create(scope, anHttpServer('files', bearer()));
    const move = (url: string) =>
      superuser.query('UPDATE mcp_servers SET url = $1 WHERE tenant_id = $2', [
        url,
        scope.tenantId,
      ]);
    await move('https://collect.example/mcp');
    const refused = { code: 'STORED_ROW_DAMAGED', detail: expect.stringContaining('files') };
    await expect(aPlane(scope)).rejects.toMatchObject(refused);
    await expect(servers.change(scope, 'files', { enabled: false })).rejects.toMatchObject(refused);
    await move('https://mcp.example.com/other');
    const plane = await aPlane(scope);
    expect(await credentialAt(scope, plane, 'files')).toMatchObject({ credential: bearer() });
  });

  it('stored before it named its origin is read, and names it from the next change on', async () => {
    const scope = await aTenant(test);
    await servers.create(scope, anHttpServer('files', bearer()));
    const context = upstreamCredentialContext(scope.tenantId, 'files');
    const former = masterKey.encrypt(Buffer.from(JSON.stringify(bearer())), context);
    await superuser.query(
      'UPDATE mcp_servers SET credential_ciphertext = $1 WHERE tenant_id = $2',
      [Buffer.from(former), scope.tenantId],
    );
    expect((await servers.get(scope, 'files')).credential).toEqual(bearer());
    await servers.change(scope, 'files', { enabled: true });
    await superuser.query(
      `UPDATE mcp_servers SET url = 'https://collect.example/' WHERE tenant_id = $1`,
      [scope.tenantId],
    );
    await expect(servers.get(scope, 'files')).rejects.toMatchObject({ code: 'STORED_ROW_DAMAGED' });
  });

  it('is sealed to X25519 keys only', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const jwk = publicKey.export({ format: 'jwk' }) as JWK;
    await expect(sealFor(jwk, 'x')).rejects.toThrow('X25519');
  });
});

describe('a change of a server', () => {
  it('is in the settings that data planes get, and was waited for', async () => {
    const scope = await aTenant(test);
    const settings = () => db.inTenant(scope, readServerSettings);
    await servers.create(scope, anHttpServer('web'));
    const stdio = { server_id: 'files', transport: 'stdio' as const, local_name: 'fs' };
    await servers.create(scope, { ...stdio, enabled: true });
    expect(await settings()).toEqual({
      web: {
        server_id: 'web',
        transport: 'streamable-http',
        url: 'https://mcp.example.com/mcp?tenant=1',
        local_name: null,
        has_credential: false,
      },
      files: { ...stdio, url: null, has_credential: false },
    });
    await servers.change(scope, 'web', { enabled: false });
    expect(Object.keys(await settings())).toEqual(['files']);
    // A permission that names it still covers no tool that is called like it.
    expect(await db.inTenant(scope, readOtherServerIds)).toEqual(['web']);
    expect(waited.at(-1)).toEqual({ bundleRevision: 9, feedSeq: 1 });
  });

  it('is audited without what a query may hold', async () => {
    const scope = await aTenant(test);
    await servers.create(scope, anHttpServer('web', bearer()));
    await servers.change(scope, 'web', { enabled: false });
    await servers.change(scope, 'web', { credential: null });
    await servers.delete(scope, 'web');
    const { rows } = await superuser.query<{ bytes: Buffer }>(
      'SELECT bytes FROM ledger_records WHERE tenant_id = $1 ORDER BY position',
      [scope.tenantId],
    );
    const actions = rows
      .map(({ bytes }) => parseRecord(bytes))
      .filter((record) => record.type === 'admin_action');
    const common = { transport: 'streamable-http', url: 'https://mcp.example.com/mcp' };
    expect(actions.map(({ action, target, details }) => ({ action, target, ...details }))).toEqual(
      [
        { action: 'mcp_server_created', enabled: true, credential: 'set' },
        { action: 'mcp_server_updated', enabled: false, before: { enabled: true } },
        {
          action: 'mcp_server_updated',
          enabled: false,
          credential: 'removed',
          before: { credential: 'set' },
        },
        { action: 'mcp_server_deleted', enabled: false },
      ].map((action) => ({ target: 'mcp_server/web', ...common, ...action })),
    );
  });

  it('cannot lead the credential to another origin', async () => {
    const scope = await aTenant(test);
    await servers.create(scope, anHttpServer('web', bearer()));
    const elsewhere = 'https://elsewhere.example/mcp';
    await expect(servers.change(scope, 'web', { url: elsewhere })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [expect.objectContaining({ loc: ['body', 'credential'] })],
    });
    await servers.change(scope, 'web', { url: 'https://mcp.example.com/other' });
    const moved = await servers.change(scope, 'web', { url: elsewhere, credential: bearer('new') });
    expect(moved).toMatchObject({ server: { url: elsewhere }, credential: bearer('new') });
    const open = await servers.change(scope, 'web', {
      url: 'https://third.example/',
      credential: null,
    });
    expect(open.credential).toBeNull();
  });

  it('is refused when the tenant has as many as it may have', async () => {
    const scope = await aTenant(test);
    const { tenantId } = scope;
    await db.inTenant(scope, (tx) =>
      tx.db.mcpServer.createMany({
        data: Array.from({ length: MAX_SERVERS }, (_, i) => {
          return { tenantId, serverId: `s${i}`, transport: 'stdio', localName: 'fs' };
        }),
      }),
    );
    await expect(servers.create(scope, anHttpServer('web'))).rejects.toMatchObject({
      code: 'MCP_SERVER_LIMIT_REACHED',
    });
    await servers.delete(scope, 's0');
    await servers.create(scope, anHttpServer('web'));
  });

  it('keeps to its transport, and names what is not there', async () => {
    const scope = await aTenant(test);
    await servers.create(scope, anHttpServer('web'));
    const stdio = { server_id: 'fs', transport: 'stdio' as const, local_name: 'fs', enabled: true };
    await servers.create(scope, stdio);
    const invalid = { code: 'VALIDATION_FAILED' };
    await expect(servers.change(scope, 'web', { local_name: 'x' })).rejects.toMatchObject(invalid);
    await expect(
      servers.change(scope, 'fs', { url: 'https://mcp.example.com/' }),
    ).rejects.toMatchObject(invalid);
    await expect(servers.change(scope, 'fs', { credential: bearer() })).rejects.toMatchObject(
      invalid,
    );
    await expect(servers.create(scope, stdio)).rejects.toMatchObject({ code: 'DUPLICATE_NAME' });
    const missing = { code: 'MCP_SERVER_NOT_FOUND' };
    await expect(servers.change(scope, 'none', {})).rejects.toMatchObject(missing);
    await expect(servers.delete(scope, 'none')).rejects.toMatchObject(missing);
    const other = await aTenant(test);
    await expect(servers.get(other, 'web')).rejects.toMatchObject(missing);
  });
});
