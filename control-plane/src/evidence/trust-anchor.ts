/**
 * The trust anchor of a tenant: the service's keys for evidence, and a position in the tenant's
 * log. Every position that was handed out is remembered, since a package must prove that its tree
 * continues it.
 */

import { logOrigin } from '@governance/shared/evidence/checkpoint';
import { EMPTY_ROOT } from '@governance/shared/evidence/merkle-proofs';
import {
  anchorDigest,
  TRUST_ANCHOR_FORMAT,
  type TrustAnchor,
  type WitnessKey,
} from '@governance/shared/evidence/trust-anchor';
import { isWithin, MINUTE_MS } from '@governance/shared/time/durations';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { readKeyHistory } from '../platform/keys/key-history.ts';
import type { ServiceKeys } from '../platform/keys/keys.ts';
import { anchorStore } from './anchor-store.ts';
import { EVIDENCE_PURPOSES } from './key-entries.ts';
import { ensureCheckpoint } from './log-growth.ts';
import { logStore } from './log-store.ts';

/**
 * For how long an anchor's position is reused, so that at most one position per minute is
 * remembered.
 */
const REUSED_MS = MINUTE_MS;

export interface TrustAnchorDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  serviceKeys: Pick<ServiceKeys, 'evidenceKey' | 'listKeys' | 'listRotations'>;
  /** SERVICE_PUBLIC_URL. */
  publicUrl: string;
  /** VERIFIER_PUBLIC_URL. */
  verifierUrl: string;
  /** SERVICE_EVIDENCE_WITNESS_URLS. */
  witnesses: readonly WitnessKey[];
  now: () => Date;
}

type Lasting = Omit<TrustAnchor, 'issued_at' | 'log'>;

export type TrustAnchors = ReturnType<typeof createTrustAnchors>;

export function createTrustAnchors(deps: TrustAnchorDeps) {
  const { db, serviceKeys, publicUrl, verifierUrl, now } = deps;
  const witnesses = deps.witnesses.map(({ name, key }) => ({ name, key }));

  const lasting = (tenantId: string, keys: Lasting['keys']): Lasting => ({
    format: TRUST_ANCHOR_FORMAT,
    issuer: publicUrl,
    tenant_id: tenantId,
    keys,
    // Absent rather than empty, so that the digest of an anchor without witnesses is unchanged.
    ...(witnesses.length > 0 ? { witnesses } : {}),
    spec_url: `${verifierUrl}/`,
  });

  return {
    /** The tenant's present anchor; its position in the log is at most a minute old. */
    issue: async (scope: TenantScope): Promise<TrustAnchor> => {
      const { key } = await serviceKeys.evidenceKey('checkpoint');
      const { keys } = await readKeyHistory(serviceKeys, EVIDENCE_PURPOSES);
      const anchor = lasting(scope.tenantId, keys);
      const at = now();
      const { epoch, size, root } = await db.inTenant(scope, (tx) => place(tx, key, at));
      const log = { origin: logOrigin(scope.tenantId, epoch), epoch, size, root };
      return { ...anchor, issued_at: at.toISOString(), log };
    },

    /**
     * What a package states about anchors: where to find one, the keys, and the statements that
     * link the keys.
     */
    describe: async (tenantId: string) => {
      const { keys, rotations } = await readKeyHistory(serviceKeys, EVIDENCE_PURPOSES);
      const anchor = lasting(tenantId, keys);
      const log = { origin: '', epoch: 1, size: 0, root: EMPTY_ROOT };
      return {
        issuer: anchor.issuer,
        keys,
        rotations,
        metadata: {
          trust_anchor_url: `${verifierUrl}/trust-anchor.json`,
          anchor_digest: anchorDigest({ ...anchor, issued_at: now().toISOString(), log }),
          spec_url: anchor.spec_url,
          key_ids: keys.map(({ kid }) => kid),
        },
      };
    },
  };
}

async function place(
  tx: TenantTransaction,
  key: Parameters<typeof ensureCheckpoint>[1],
  at: Date,
): Promise<{ epoch: number; size: number; root: string }> {
  const anchors = anchorStore(tx);
  const { epoch } = await logStore(tx).findHead();
  const last = await anchors.findNewest(epoch);
  if (last && isWithin(last.issuedAt.getTime(), REUSED_MS, at.getTime())) return last;
  const checkpoint = await ensureCheckpoint(tx, key, at);
  const found = checkpoint ?? { epoch, size: 0, root: EMPTY_ROOT };
  await anchors.remember({ epoch, size: found.size, root: found.root, issuedAt: at });
  return found;
}
