/**
 * What the last signed bundle carried, as its manifest says: a policy that it had is not asked for
 * its record again. Only what a key of the service signed counts.
 */
import { hash } from 'node:crypto';
import type { PolicySource } from '@governance/policies/contract';
import { BundleManifest } from '@governance/shared/bundle/bundle-format';
import { readBundleSignature } from '@governance/shared/bundle/bundle-signature';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { Id, Sha256Hex } from '@governance/shared/text';
import { z } from 'zod';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

/** The member of a manifest's metadata: digests by policy id. */
const CarriedPolicies = z.record(z.string(), Sha256Hex);
/** Another member: the newest record of what it has of them. */
const SavedUntil = Id.optional();

/** Bounds what is read, since a row may have been edited. */
const MAX_TEXT = 1024 * 1024;

export interface Carried {
  /** Of all sources together. */
  sourcesDigest: string;
  /** By policy id; undefined in bundles of earlier versions. */
  digests: ReadonlyMap<string, string> | undefined;
  /** Whatever differs from these was saved later than this record. */
  savedUntil: string | undefined;
}

/** A public key with its id, as `readBundleSignature` takes it. */
export type BundleKey = { kid: string; jwk: { kty: string; alg?: unknown } };

/** What a bundle carries of a policy: reasons name it, so its name counts. */
export function policyDigest({ name, rego }: Pick<PolicySource, 'name' | 'rego'>): string {
  return hash('sha256', canonicalize({ name, rego }), 'hex');
}

export function toCarried(policies: readonly PolicySource[]): z.infer<typeof CarriedPolicies> {
  return Object.fromEntries(policies.map((policy) => [policy.id, policyDigest(policy)]));
}

/**
 * @returns undefined before the first bundle, and where no key of the service signed the last one,
 *   or its manifest is gone: an earlier one says what was carried once
 */
export async function readCarried(
  { db, scope: { tenantId } }: TenantTransaction,
  keys: readonly BundleKey[],
): Promise<Carried | undefined> {
  const [row] = await db.$queryRaw<{ revision: bigint; manifest: string; signatures: string }[]>`
    SELECT m.revision, left(m.manifest, ${MAX_TEXT}::int) AS manifest,
      left(m.signatures, ${MAX_TEXT}::int) AS signatures
    FROM tenant_heads h JOIN bundle_manifests m
      ON m.tenant_id = h.tenant_id AND m.revision = h.bundle_revision
    WHERE h.tenant_id = ${tenantId}::uuid`;
  if (!row) return undefined;
  try {
    readBundleSignature(Buffer.from(row.signatures), Buffer.from(row.manifest), {
      scope: tenantId,
      findKey: (wanted) => keys.find(({ kid }) => kid === wanted)?.jwk,
    });
    const { revision, metadata } = BundleManifest.parse(JSON.parse(row.manifest));
    if (revision !== String(row.revision) || metadata.tenant_id !== tenantId) return undefined;
    const digests =
      metadata.policies === undefined ? undefined : CarriedPolicies.parse(metadata.policies);
    return {
      sourcesDigest: metadata.sources_digest,
      digests: digests && new Map(Object.entries(digests)),
      savedUntil: SavedUntil.parse(metadata.policies_saved_until),
    };
  } catch {
    return undefined;
  }
}
