import { boundHeldLocks, lockInTenant } from '../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

export interface StoredBundle {
  revision: number;
  /** SHA-256 of the tar.gz. */
  digest: string;
  contentDigest: string;
  sourcesDigest: string;
}

/** This feature's rows, of the transaction's tenant. */
export function bundleStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    /** The revision in tenant_heads: the newest bundle's, 0 before the first. */
    currentRevision: async (): Promise<number> => {
      const head = await db.tenantHead.findUniqueOrThrow({
        where: { tenantId },
        select: { bundleRevision: true },
      });
      return Number(head.bundleRevision);
    },

    find: async (revision: number): Promise<StoredBundle | undefined> => {
      const row = await db.bundle.findUnique({
        where: { tenantId_revision: { tenantId, revision: BigInt(revision) } },
        omit: { bytes: true },
      });
      return row ? { ...row, revision: Number(row.revision) } : undefined;
    },

    findBytes: async (revision: number): Promise<Uint8Array | undefined> => {
      const row = await db.bundle.findUnique({
        where: { tenantId_revision: { tenantId, revision: BigInt(revision) } },
        select: { bytes: true },
      });
      return row?.bytes;
    },

    /** The newest bundle whole, in one statement. */
    findCurrent: async () => {
      const [row] = await db.$queryRaw<{ revision: bigint; digest: string; bytes: Uint8Array }[]>`
        SELECT b.revision, b.digest, b.bytes FROM tenant_heads h
        JOIN bundles b ON b.tenant_id = h.tenant_id AND b.revision = h.bundle_revision
        WHERE h.tenant_id = ${tenantId}::uuid`;
      return row && { ...row, revision: Number(row.revision) };
    },

    /**
     * One replica at a time stores a bundle of the tenant. Held until the transaction ends; take it
     * before any other lock.
     */
    lockBuilds: (): Promise<void> => lockInTenant(db, 'bundles', tenantId),

    insert: async (bundle: StoredBundle & { bytes: Uint8Array<ArrayBuffer> }): Promise<void> => {
      await db.bundle.create({
        data: { ...bundle, tenantId, revision: BigInt(bundle.revision) },
      });
    },

    /** The part of a bundle that outlives it: evidence shows with it who signed a revision. */
    insertSigned: async (signed: {
      revision: number;
      digest: string;
      manifest: string;
      signatures: string;
    }): Promise<void> => {
      const revision = BigInt(signed.revision);
      await db.bundleManifest.create({ data: { tenantId, ...signed, revision } });
    },

    /**
     * Makes a revision current if `seen` still is, so that a replica that built from an older state
     * cannot win. Locks tenant_heads: call it last.
     */
    advance: async (seen: number, revision: number): Promise<boolean> => {
      await boundHeldLocks(db);
      const { count } = await db.tenantHead.updateMany({
        where: { tenantId, bundleRevision: BigInt(seen) },
        data: { bundleRevision: BigInt(revision) },
      });
      return count === 1;
    },

    /** Deletes all but the newest bundles. */
    prune: async (keep: number): Promise<void> => {
      await db.$executeRaw`
        DELETE FROM bundles WHERE tenant_id = ${tenantId}::uuid AND revision < (
          SELECT min(revision) FROM (
            SELECT revision FROM bundles WHERE tenant_id = ${tenantId}::uuid
            ORDER BY revision DESC LIMIT ${keep}
          ) newest)`;
    },
  };
}
