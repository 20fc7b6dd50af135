/**
 * The checkpoints by which witnesses confirm the tree that a volume ends with. Witnesses cosign
 * only the newest checkpoint, so it is usually a later one, and the volume has a consistency proof
 * to it. Proven by tests/witnesses.pg.test.ts.
 */
import type { KeyEntry } from '@governance/shared/evidence/evidence-keys';
import type { WitnessLine } from '@governance/shared/evidence/evidence-package';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { witnessStore } from '../witnesses/witness-store.ts';

export interface CosignedCheckpoints {
  /** By size. */
  notes: Map<number, string>;
  lines: WitnessLine[];
}

/** @param keys the keys of the trust anchor */
export async function findCosigned(
  tx: TenantTransaction,
  place: { epoch: number; from: number; to: number },
  keys: readonly Pick<KeyEntry, 'purpose' | 'revoked_at'>[],
): Promise<CosignedCheckpoints> {
  // With a checkpoint by a revoked key, the volume would fail verification.
  const revoked = keys.flatMap(({ purpose, revoked_at }) =>
    purpose === 'checkpoint' && revoked_at !== null ? [Date.parse(revoked_at)] : [],
  );
  const after = new Date(Math.max(0, ...revoked));
  const notes = new Map<number, string>();
  const lines: WitnessLine[] = [];
  for (const { size, note, line } of await witnessStore(tx).listFirst({ ...place, after })) {
    if ((notes.get(size) ?? note) !== note) continue;
    notes.set(size, note);
    lines.push({ size, cosignature: line });
  }
  return { notes, lines };
}
