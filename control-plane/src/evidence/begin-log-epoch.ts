/**
 * Begins a tenant's next log epoch after a restore that the operator announced. The tree does not
 * change: the epoch starts as a copy of it under another origin, and a signed statement names the
 * place. A reader that knows a larger log can thus distinguish an announced restore from an
 * unannounced removal. The statement does not prove that any leaf is still there. Proven by
 * log-epochs.pg.test.ts: the tree of every checkpoint of an ended epoch is continued by the next
 * epoch, whatever grows meanwhile.
 */
import { createPublicKey } from 'node:crypto';
import type { PublicJwk } from '@governance/shared/evidence/ed25519';
import {
  type EvidenceSigner,
  type LogEpoch,
  MAX_LOG_EPOCHS,
  signEvidenceStatement,
} from '@governance/shared/evidence/evidence-keys';
import { EMPTY_ROOT } from '@governance/shared/evidence/merkle-proofs';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { findHighestSeen } from './highest-seen.ts';
import { logEpochStore } from './log-epoch-store.ts';
import { ensureCheckpoint } from './log-growth.ts';
import { logStore } from './log-store.ts';

/** The key for checkpoints, with its earlier public keys that are not revoked. */
export interface LogEpochSigner extends EvidenceSigner {
  earlier?: readonly PublicJwk[];
}

/**
 * `restored` is the current tree, not the backup's: leaves added since the restore were signed
 * under the epoch that ends, so a reader that received such a checkpoint finds it continued.
 *
 * @throws Error when the log has MAX_LOG_EPOCHS epochs: packages cannot name more
 */
export async function beginLogEpoch(
  tx: TenantTransaction,
  signer: LogEpochSigner,
  now: Date,
): Promise<LogEpoch> {
  const log = logStore(tx);
  const epochs = logEpochStore(tx);
  // Until the commit, no leaf is added and no other announcement starts.
  const { epoch: ended, size } = await log.lockHead();
  if ((await epochs.count()) >= MAX_LOG_EPOCHS) {
    throw new Error(`the log of tenant ${tx.scope.tenantId} has too many epochs`);
  }
  const own = createPublicKey(signer.key).export({ format: 'jwk' }) as PublicJwk;
  const keys = [own, ...(signer.earlier ?? [])];
  const seen = await findHighestSeen(tx, { size, epoch: ended, keys });
  const statement: LogEpoch = {
    type: 'log_epoch',
    v: 1,
    tenant_id: tx.scope.tenantId,
    // The number of an epoch that a restore lost is not reused, since it names another tree.
    epoch: Math.max(ended, seen.epoch) + 1,
    time: now.toISOString(),
    restored: { epoch: ended, size, root: size === 0 ? EMPTY_ROOT : await log.readRoot(size) },
    highest_lost: seen.lost,
  };
  await epochs.insert(signEvidenceStatement({ kid: signer.kid, key: signer.key }, statement));
  await log.moveEpoch(statement.epoch);
  await ensureCheckpoint(tx, signer.key, now);
  return statement;
}
