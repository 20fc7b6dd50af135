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
import type { TenantTransaction } from '../platform/tenant-scope.ts';

/** A registered data plane as far as sealing goes; `sealingKey` is its public X25519 JWK. */
export interface SealingTarget {
  deploymentId: string;
  sealingKey: JWK;
}

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

/** Puts a server's credential for each of these data planes into the feed; null takes it back. */
export async function appendCredential(
  tx: TenantTransaction,
  serverId: string,
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
    const content = { ...names, tenant_id: tx.scope.tenantId, credential };
    const value = { ...names, jwe: await sealCredential(content, sealingKey) };
    tx.feed.append({ kind: 'upstream_credential', key, value });
  }
}

/** The tenant's data planes to seal for: those that were revoked or forked get nothing new. */
export async function readSealingTargets({
  db,
  scope: { tenantId },
}: TenantTransaction): Promise<SealingTarget[]> {
  const rows = await db.dataPlane.findMany({
    where: { tenantId, status: 'active' },
    select: { deploymentId: true, sealingKey: true },
    orderBy: { deploymentId: 'asc' },
  });
  return rows.map(({ deploymentId, sealingKey }) => ({
    deploymentId,
    sealingKey: JSON.parse(sealingKey) as JWK,
  }));
}

/**
 * A data plane that registers while a credential changes must end up with the new one: both take
 * this lock first, and hold it until their transaction ends.
 */
export async function lockCredentials({ db, scope }: TenantTransaction): Promise<void> {
  await db.$queryRaw`
    SELECT pg_advisory_xact_lock(hashtextextended(${`credentials/${scope.tenantId}`}, 0))::text`;
}
