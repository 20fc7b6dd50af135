/**
 * The highest position in a tenant's log that others remember: data planes that watch it, and
 * witnesses. A row counts only by its note, which must match its position and be signed by this
 * service, since the database's owner can write any row. Proven by log-epochs.pg.test.ts.
 */
import {
  isCheckpointSignedBy,
  type LogPlace,
  logOrigin,
  parseCheckpoint,
} from '@governance/shared/evidence/checkpoint';
import type { PublicJwk } from '@governance/shared/evidence/ed25519';
import { EMPTY_ROOT } from '@governance/shared/evidence/merkle-proofs';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { logStore } from './log-store.ts';

/** Rows to read, highest position first; many data planes hold the same one. */
const LOOKED_AT = 200;

export interface HighestSeen {
  /** The highest position that somebody remembers and the log lacks. */
  lost: LogPlace | null;
  /** The highest epoch that anybody has seen; 0 for none. */
  epoch: number;
}

/**
 * @param grown the tree's present size
 * @param epoch the log's present epoch
 * @param keys that ever signed checkpoints and are not revoked
 */
export async function findHighestSeen(
  tx: TenantTransaction,
  { size: grown, epoch, keys }: { size: number; epoch: number; keys: readonly PublicJwk[] },
): Promise<HighestSeen> {
  const { db, scope } = tx;
  const rows = await db.$queryRaw<{ epoch: number; size: bigint; root: string; note: string }[]>`
    SELECT epoch, size, root, note FROM (
      SELECT epoch, size, root, note FROM log_watches WHERE tenant_id = ${scope.tenantId}::uuid
      UNION
      SELECT epoch, size, root, note FROM log_cosignatures WHERE tenant_id = ${scope.tenantId}::uuid
    ) seen ORDER BY epoch DESC, size DESC, root LIMIT ${LOOKED_AT}`;
  const places = rows
    .map(({ note, ...row }) => ({ place: { ...row, size: Number(row.size) }, note }))
    .filter(({ place, note }) => isSignedHere(scope.tenantId, place, note, keys))
    .map(({ place }) => place);
  const log = logStore(tx);
  let lost: LogPlace | null = null;
  for (const place of places) {
    // An epoch later than the log's was lost, even if its leaves exist.
    const isKept =
      place.epoch <= epoch &&
      place.size <= grown &&
      (place.size === 0 ? EMPTY_ROOT : await log.readRoot(place.size)) === place.root;
    if (isKept) continue;
    lost = place;
    break;
  }
  return { lost, epoch: places[0]?.epoch ?? 0 };
}

function isSignedHere(
  tenantId: string,
  { epoch, size, root }: LogPlace,
  note: string,
  keys: readonly PublicJwk[],
): boolean {
  try {
    const signed = parseCheckpoint(note);
    const { checkpoint } = signed;
    const isOfPlace =
      checkpoint.origin === logOrigin(tenantId, epoch) &&
      checkpoint.size === size &&
      checkpoint.root === root;
    return isOfPlace && keys.some((key) => isCheckpointSignedBy(signed, key));
  } catch {
    return false;
  }
}
