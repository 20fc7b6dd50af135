/**
 * What the last signed bundle carried, as its manifest says: a policy that it had is not asked for
 * its record again. Only what a key of the service signed counts.
 */
import { hash } from 'node:crypto';
import type { PolicySource } from '@governance/policies/contract';
import { BundleManifest } from '@governance/shared/bundle-format';
import { readBundleSignature } from '@governance/shared/bundle-signature';
import { canonicalize } from '@governance/shared/canonical-json';
import { Sha256Hex } from '@governance/shared/text';
import { z } from 'zod';
import type { TenantTransaction } from '../platform/tenant-scope.ts';

/** The member of a manifest's metadata: digests by policy id. */
const CarriedPolicies = z.record(z.string(), Sha256Hex);

/** Bounds what is read, since a row may have been edited. */
const MAX_TEXT = 1024 * 1024;

export interface Carried {
  /** Of all sources together. */
  sourcesDigest: string;
  /** By policy id; undefined in bundles of earlier versions. */
  digests: ReadonlyMap<string, string> | undefined;
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

/** @returns undefined before the first bundle, and where no key of the service signed the last one */
export async function readCarried(
  { db, scope: { tenantId } }: TenantTransaction,
  keys: readonly BundleKey[],
): Promise<Carried | undefined> {
  const [row] = await db.$queryRaw<{ revision: bigint; manifest: string; signatures: string }[]>`
    SELECT revision, left(manifest, ${MAX_TEXT}::int) AS manifest,
      left(signatures, ${MAX_TEXT}::int) AS signatures
    FROM bundle_manifests WHERE tenant_id = ${tenantId}::uuid ORDER BY revision DESC LIMIT 1`;
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
    };
  } catch {
    return undefined;
  }
}
