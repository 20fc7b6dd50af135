/**
 * Credentials of MCP servers on their way to the data planes: each is sealed (compact JWE,
 * ECDH-ES on X25519, A256GCM) to each registered data plane's own key and sent by the feed, so
 * that neither the feed nor what stores it can read them.
 */
import {
  SEALING,
  SealedUpstreamCredential,
  type UpstreamCredential,
} from '@governance/shared/upstream-credential';
import { CompactEncrypt, importJWK, type JWK } from 'jose';
import type { SealingTarget } from '../platform/feature.ts';
import type { TenantTransaction } from '../platform/tenant-scope.ts';
import type { McpServer } from './mcp-server.ts';

/**
 * Seals one credential for one data plane.
 *
 * @throws TypeError when the key is no X25519 public key
 */
export async function sealCredential(
  content: SealedUpstreamCredential,
  sealingKey: JWK,
): Promise<string> {
  if (sealingKey.kty !== 'OKP' || sealingKey.crv !== 'X25519') {
    throw new TypeError('a sealing key must be an X25519 public key');
  }
  const { kty, crv, x } = sealingKey;
  const plaintext = JSON.stringify(SealedUpstreamCredential.parse(content));
  return new CompactEncrypt(Buffer.from(plaintext))
    .setProtectedHeader(SEALING)
    .encrypt(await importJWK({ kty, crv, x }, SEALING.alg));
}

/** Appends a server's credential for each of these data planes to the feed; null removes it. */
export async function appendCredential(
  tx: TenantTransaction,
  { serverId, url }: McpServer,
  credential: UpstreamCredential | null,
  targets: SealingTarget[],
): Promise<void> {
  for (const { deploymentId, sealingKey } of targets) {
    const key = `${deploymentId}/${serverId}`;
    if (!credential) {
      tx.feed.append({ kind: 'upstream_credential', key, value: null });
      continue;
    }
    const names = { server_id: serverId, deployment_id: deploymentId };
    const origin = url === null ? undefined : new URL(url).origin;
    const content = { ...names, tenant_id: tx.scope.tenantId, origin, credential };
    const value = { ...names, jwe: await sealCredential(content, sealingKey) };
    tx.feed.append({ kind: 'upstream_credential', key, value });
  }
}

/**
 * The tenant's data planes to seal for: not revoked or forked ones, nor those without a valid
 * token, which are sealed for again when they come back with another root. One that never had a
 * token runs in the control plane's process.
 */
export async function readSealingTargets(tx: TenantTransaction): Promise<SealingTarget[]> {
  const { db, scope } = tx;
  const rows = await db.$queryRaw<{ deployment_id: string; sealing_key: string }[]>`
    SELECT p.deployment_id, p.sealing_key FROM data_planes p
    WHERE p.tenant_id = ${scope.tenantId}::uuid AND p.status = 'active' AND NOT EXISTS (
      SELECT 1 FROM data_plane_tokens t
      WHERE t.tenant_id = p.tenant_id AND t.deployment_id = p.deployment_id
      HAVING count(*) > 0 AND bool_and(t.revoked_at IS NOT NULL))
    ORDER BY p.deployment_id`;
  return rows.map(({ deployment_id: deploymentId, sealing_key: sealingKey }) => ({
    deploymentId,
    sealingKey: JSON.parse(sealingKey) as JWK,
  }));
}

/**
 * Removes what is sealed for data planes that are no targets any more. Under `lockCredentials`.
 *
 * @returns how many, `limit` at most
 */
export async function takeBackFromOthers(tx: TenantTransaction, limit: number): Promise<number> {
  const targets = (await readSealingTargets(tx)).map(({ deploymentId }) => deploymentId);
  const rows = await tx.db.$queryRaw<{ key: string }[]>`
    SELECT key FROM (
      SELECT DISTINCT ON (key) key, value FROM feed_entries
      WHERE tenant_id = ${tx.scope.tenantId}::uuid AND kind = 'upstream_credential'
      ORDER BY key, seq DESC
    ) AS newest
    WHERE value IS NOT NULL AND NOT (split_part(key, '/', 1) = ANY (${targets}::text[]))
    LIMIT ${limit}`;
  for (const { key } of rows) tx.feed.append({ kind: 'upstream_credential', key, value: null });
  return rows.length;
}

/**
 * Serialises changes of credentials, registrations and revocations of a tenant, until the
 * transaction ends: a data plane that registers meanwhile gets the new credential, and one that is
 * revoked gets none.
 */
export async function lockCredentials({ db, scope }: TenantTransaction): Promise<void> {
  await db.$queryRaw`
    SELECT pg_advisory_xact_lock(hashtextextended(${`credentials/${scope.tenantId}`}, 0))::text`;
}
