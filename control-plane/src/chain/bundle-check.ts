/**
 * Checks the signed members of bundles, which packages show for the revisions that decisions name:
 * each must be what a key of the service signed for this tenant and revision. Proven by
 * bundle-check.pg.test.ts.
 */
import { BundleManifest } from '@governance/shared/bundle/bundle-format';
import { readBundleSignature } from '@governance/shared/bundle/bundle-signature';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { FoundBreak } from './chain-breaks.ts';
import type { EvidenceKeys } from './log-places.ts';

interface StoredManifest {
  revision: number;
  manifest: string;
  signatures: string;
  digest: string;
  /** The digest of the bundle itself; null once it was pruned. */
  bundleDigest: string | null;
}

/** Bounds a page in memory together with MAX_TEXT, since a row may have been edited. */
const PAGE = 20;
const MAX_TEXT = 1024 * 1024;

export interface BundleReads {
  tenantId: string;
  /** The next rows after a revision. */
  read(after: number): Promise<StoredManifest[]>;
  readKeys(): Promise<Pick<EvidenceKeys, 'bundle'>>;
}

const readManifests = async (
  { db, scope: { tenantId } }: TenantTransaction,
  after: number,
): Promise<StoredManifest[]> => {
  const rows = await db.$queryRaw<(Omit<StoredManifest, 'revision'> & { revision: bigint })[]>`
    SELECT m.revision, left(m.manifest, ${MAX_TEXT}::int) AS manifest,
      left(m.signatures, ${MAX_TEXT}::int) AS signatures, left(m.digest, 100) AS digest,
      b.digest AS "bundleDigest"
    FROM bundle_manifests m
    LEFT JOIN bundles b ON b.tenant_id = m.tenant_id AND b.revision = m.revision
    WHERE m.tenant_id = ${tenantId}::uuid AND m.revision > ${after}::bigint
    ORDER BY m.revision LIMIT ${PAGE}`;
  return rows.map(({ revision, ...row }) => ({ ...row, revision: Number(revision) }));
};

/** @returns undefined where the service's keys are not known: nothing can be checked */
export const createBundleReads = (
  inTenant: <T>(read: (tx: TenantTransaction) => Promise<T>) => Promise<T>,
  readKeys: (() => Promise<EvidenceKeys>) | undefined,
): Omit<BundleReads, 'tenantId'> | undefined =>
  readKeys && { read: (after) => inTenant((tx) => readManifests(tx, after)), readKeys };

/** @param onPage called after each page, with its breaks */
export async function checkBundles(
  { tenantId, read, readKeys }: BundleReads,
  onPage: (found: Omit<FoundBreak, 'stream'>[]) => Promise<void>,
): Promise<void> {
  let keys = (await readKeys()).bundle;
  for (let page = await read(-1); page.length > 0; ) {
    const findBreaks = () =>
      page.flatMap((row) => toBreak(row, findFault({ tenantId, keys }, row)));
    let found = findBreaks();
    if (found.length > 0) {
      // A bundle may have been signed since with a newer key, whose row was stored before it.
      keys = (await readKeys()).bundle;
      found = findBreaks();
    }
    await onPage(found);
    page = await read((page.at(-1) as StoredManifest).revision);
  }
}

function toBreak(
  { revision, digest }: StoredManifest,
  detail: string | undefined,
): Omit<FoundBreak, 'stream'>[] {
  if (detail === undefined) return [];
  const expected = 'the signed members of the bundle';
  return [{ kind: 'bundle', epoch: 1, seq: revision, expected, actual: digest, detail }];
}

function findFault(
  { tenantId, keys }: { tenantId: string; keys: EvidenceKeys['bundle'] },
  { revision, manifest, signatures, digest, bundleDigest }: StoredManifest,
): string | undefined {
  try {
    readBundleSignature(Buffer.from(signatures), Buffer.from(manifest), {
      scope: tenantId,
      findKey: (wanted) => keys.find(({ kid }) => kid === wanted)?.jwk,
    });
    const { revision: own, metadata } = BundleManifest.parse(JSON.parse(manifest));
    if (own !== String(revision) || metadata.tenant_id !== tenantId) {
      return 'what was signed is of another bundle';
    }
  } catch {
    return 'no key of the service signed what is stored';
  }
  return bundleDigest === null || bundleDigest === digest
    ? undefined
    : 'the digest is not that of the bundle';
}
