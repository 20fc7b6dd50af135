/**
 * Facts for one data plane only. Each is sealed (compact JWE, ECDH-ES on X25519, A256GCM) to that
 * data plane's key and sent in the feed, so that other readers of the feed and the database cannot
 * read it. The fact's key begins with the deployment's id.
 */
import type { FactKind } from '@governance/shared/channel/facts';
import { SEALING } from '@governance/shared/mcp/upstream-credential';
import { CompactEncrypt, importJWK, type JWK } from 'jose';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { createSlots, type SlotLimits } from '../platform/slots.ts';
import { planeRows } from './plane-rows.ts';

/**
 * What may change a tenant's sealed facts at a time: sealing for 2,000 data planes takes seconds,
 * and whoever waits for `lockSealedFacts` in a transaction holds a connection of the pool. Taken
 * before the transaction.
 */
const TURNS: SlotLimits = {
  busy: 'Another change of this tenant is under way: try again.',
  total: 4,
  perTenant: 1,
  waiting: 200,
  waitingOfTenant: 40,
  waitMs: 10_000,
  retryAfterSeconds: 5,
};

/** Runs changes of sealed facts, one of each tenant at a time. */
export interface SealedFactTurns {
  /** @throws AppError UNAVAILABLE when too many wait, or it took too long */
  run<T>(tenantId: string, work: () => Promise<T>): Promise<T>;
}

/** One for the process. */
export function createSealedFactTurns(limits = TURNS): SealedFactTurns {
  const slots = createSlots(limits);
  return {
    run: async (tenantId, work) => {
      const release = await slots.take(tenantId);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

export type SealedKind = Extract<FactKind, 'upstream_credential' | 'identifier_key'>;

/** @throws TypeError when the key is not an X25519 public key */
export async function sealFor(sealingKey: JWK, plaintext: string): Promise<string> {
  if (sealingKey.kty !== 'OKP' || sealingKey.crv !== 'X25519') {
    throw new TypeError('a sealing key must be an X25519 public key');
  }
  const { kty, crv, x } = sealingKey;
  return new CompactEncrypt(Buffer.from(plaintext))
    .setProtectedHeader(SEALING)
    .encrypt(await importJWK({ kty, crv, x }, SEALING.alg));
}

/**
 * The ids of those that secrets may have been sealed for. Whether they are what was registered is
 * asked where something is sealed (attested-planes.ts): here it would take from a data plane what
 * it has.
 */
export async function listTargets(tx: TenantTransaction): Promise<string[]> {
  return (await planeRows(tx).readTargets()).map(({ deploymentId }) => deploymentId);
}

/**
 * Removes facts sealed for data planes that are no longer targets. The caller holds
 * `lockSealedFacts`.
 *
 * @returns how many were removed, at most `limit`
 */
export async function takeBackFromOthers(
  tx: TenantTransaction,
  kind: SealedKind,
  limit: number,
): Promise<number> {
  return takeBack(tx, kind, await listTargets(tx), limit);
}

/** Removes the facts sealed for all data planes. The caller holds `lockSealedFacts`. */
export async function takeBackFromAll(tx: TenantTransaction, kind: SealedKind): Promise<void> {
  await takeBack(tx, kind, [], null);
}

async function takeBack(
  { db, feed, scope }: TenantTransaction,
  kind: SealedKind,
  keptFor: string[],
  limit: number | null,
): Promise<number> {
  const rows = await db.$queryRaw<{ key: string }[]>`
    SELECT key FROM (
      SELECT DISTINCT ON (key) key, value FROM feed_entries
      WHERE tenant_id = ${scope.tenantId}::uuid AND kind = ${kind}
      ORDER BY key, seq DESC
    ) AS newest
    WHERE value IS NOT NULL AND NOT (split_part(key, '/', 1) = ANY (${keptFor}::text[]))
    LIMIT ${limit}`;
  for (const { key } of rows) feed.append({ kind, key, value: null });
  return rows.length;
}

/**
 * Serialises changes of sealed facts, registrations and revocations of a tenant, until the
 * transaction ends, so that a data plane that registers meanwhile gets the new facts, and a revoked
 * one gets none. Other processes hold it too.
 */
export async function lockSealedFacts({ db, scope }: TenantTransaction): Promise<void> {
  await lockInTenant(db, 'credentials', scope.tenantId);
}
