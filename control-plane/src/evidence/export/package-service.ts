import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { type DataKey, type DataKeys, decryptUnder } from '../../key-management/data-keys.ts';
import { KeyProviderError } from '../../key-management/key-provider.ts';
import { damagedRow } from '../../platform/database/damaged-rows.ts';
import type { Page } from '../../platform/database/page.ts';
import type { TenantDatabase, TenantScope } from '../../platform/database/tenant-scope.ts';
import { mayManage } from '../../platform/http/role-table.ts';
import { type EvidenceRequest, MAX_PACKAGES } from './evidence-request.ts';
import { chunkContext, EVIDENCE_PURPOSE } from './export-task.ts';
import { CHUNK_BYTES } from './pack-volume.ts';
import { packageStore, type StoredPackage, type StoredVolume } from './package-store.ts';

export interface PackageServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  dataKeys: Pick<DataKeys, 'find'>;
  /** SERVICE_EVIDENCE_RETENTION_DAYS, in milliseconds. */
  retentionMs: number;
  now: () => Date;
}

/** A byte range of a file, both ends included. */
export interface ByteRange {
  first: number;
  last: number;
}

export type PackageService = ReturnType<typeof createPackageService>;

export function createPackageService({ db, dataKeys, retentionMs, now }: PackageServiceDeps) {
  const get = (scope: TenantScope, id: string): Promise<StoredPackage> =>
    db.inTenant(scope, async (tx) => {
      const found = await packageStore(tx).find(id);
      if (!found) throw new AppError('EVIDENCE_PACKAGE_NOT_FOUND');
      requirePayloadRole(scope, found);
      return found;
    });

  async function* read(
    scope: TenantScope,
    { id, plan }: StoredPackage,
    { number: volume, size }: StoredVolume,
    { first, last }: ByteRange,
  ): AsyncGenerator<Buffer> {
    const keyId = plan?.data_key_id ?? null;
    for (let n = Math.floor(first / CHUNK_BYTES); n * CHUNK_BYTES <= last; n++) {
      const stored = await db.inTenant(scope, (tx) => packageStore(tx).findChunk(id, volume, n));
      if (!stored) {
        // It expired or was deleted meanwhile, where it is not damaged.
        await get(scope, id);
        throw damagedRow(pieceOf(id, volume, n), 'it is gone');
      }
      const bytes =
        keyId === null
          ? Buffer.from(stored)
          : decrypt(await dataKeys.find(scope, keyId, EVIDENCE_PURPOSE), stored, {
              scope,
              id,
              volume,
              n,
            });
      const at = n * CHUNK_BYTES;
      // The client would wait for the rest.
      if (bytes.length !== Math.min(CHUNK_BYTES, size - at)) {
        throw damagedRow(pieceOf(id, volume, n), 'it has another length');
      }
      yield bytes.subarray(Math.max(0, first - at), Math.min(bytes.length, last + 1 - at));
    }
  }

  return {
    get,

    /**
     * @throws AppError EVIDENCE_EXPORT_RUNNING, EVIDENCE_PACKAGE_LIMIT_REACHED, ROLE_REQUIRED (when
     * the
     * caller may not see payloads)
     */
    request: async (
      scope: TenantScope,
      given: Omit<EvidenceRequest, 'id'>,
    ): Promise<StoredPackage> => {
      requirePayloadRole(scope, given);
      const at = now();
      const request = { id: uuidv7(at.getTime()), ...given };
      return db.inTenant(scope, async (tx) => {
        const store = packageStore(tx);
        await store.lock();
        const { all, open } = await store.count();
        if (open > 0) throw new AppError('EVIDENCE_EXPORT_RUNNING');
        if (all >= MAX_PACKAGES) throw new AppError('EVIDENCE_PACKAGE_LIMIT_REACHED');
        await store.insert(request, {
          requestedBy: scope.actor.username,
          requestedAt: at,
          expiresAt: new Date(at.getTime() + retentionMs),
        });
        const { from, to, agentIds, workflowSessionId, includePayloads } = request;
        tx.audit.append({
          action: 'evidence_requested',
          target: `evidence_package/${request.id}`,
          details: {
            ...{ from: from.toISOString(), to: to.toISOString(), agent_ids: agentIds },
            ...{ workflow_session_id: workflowSessionId, include_payloads: includePayloads },
          },
        });
        return (await store.find(request.id)) as StoredPackage;
      });
    },

    list: (scope: TenantScope, page: Page) =>
      db.inTenant(scope, (tx) => packageStore(tx).list(page)),

    /** Also ends a package in progress. @throws AppError EVIDENCE_PACKAGE_NOT_FOUND */
    remove: (scope: TenantScope, id: string): Promise<void> =>
      db.inTenant(scope, async (tx) => {
        if (!(await packageStore(tx).remove(id))) throw new AppError('EVIDENCE_PACKAGE_NOT_FOUND');
        tx.audit.append({ action: 'evidence_deleted', target: `evidence_package/${id}` });
      }),

    /** @throws AppError EVIDENCE_PACKAGE_NOT_FOUND, EVIDENCE_PACKAGE_NOT_READY */
    findVolume: async (
      scope: TenantScope,
      id: string,
      number: number,
    ): Promise<{ found: StoredPackage; volume: StoredVolume }> => {
      const found = await get(scope, id);
      if (found.status !== 'ready') throw new AppError('EVIDENCE_PACKAGE_NOT_READY');
      const volume = found.volumes.find((one) => one.number === number);
      if (!volume) throw new AppError('EVIDENCE_PACKAGE_NOT_FOUND');
      return { found, volume };
    },

    /**
     * The bytes of a range, once the download is recorded. The first piece is read before: an error
     * until then still gets its status.
     *
     * @throws AppError UNAVAILABLE where the key provider does not give the package's key
     */
    download: async (
      scope: TenantScope,
      found: StoredPackage,
      volume: StoredVolume,
      range: ByteRange,
    ): Promise<AsyncGenerator<Buffer>> => {
      const pieces = read(scope, found, volume, range);
      const first = await pieces.next().catch((cause: unknown) => {
        if (!(cause instanceof KeyProviderError)) throw cause;
        throw new AppError('UNAVAILABLE', keyAway(cause), { cause, retryAfterSeconds: 5 });
      });
      await db.inTenant(scope, async (tx) => {
        tx.audit.append({
          action: 'evidence_downloaded',
          target: `evidence_package/${found.id}`,
          details: { volume: volume.number, sha256: volume.sha256, ...range },
        });
      });
      return resume(first, pieces);
    },
  };
}

const pieceOf = (id: string, volume: number, n: number): string =>
  `evidence_chunks of the package ${id}, volume ${volume}, piece ${n}`;

function decrypt(
  key: DataKey,
  stored: Uint8Array,
  { scope, id, volume, n }: { scope: TenantScope; id: string; volume: number; n: number },
): Buffer {
  try {
    return decryptUnder(key, stored, chunkContext(scope.tenantId, id, volume, n));
  } catch (cause) {
    throw damagedRow(pieceOf(id, volume, n), 'it does not decrypt', cause);
  }
}

const keyAway = ({ message }: KeyProviderError): string =>
  `The key that the package is encrypted under is not to be had: ${message}. Try again once its key provider answers.`;

async function* resume(
  first: IteratorResult<Buffer>,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

/** Only roles that may decrypt payloads may request or read a package with payloads. */
function requirePayloadRole(
  { actor }: TenantScope,
  { includePayloads }: Pick<EvidenceRequest, 'includePayloads'>,
): void {
  if (!includePayloads || mayManage(actor)) return;
  throw new AppError(
    'ROLE_REQUIRED',
    `The role ${actor.role} may not do that: a package with payloads is for admin.`,
  );
}
