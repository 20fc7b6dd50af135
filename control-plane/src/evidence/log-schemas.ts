/** The wire shapes of the log and of the trust anchor; the specification leaves them open. */
import { MAX_LOG_EPOCHS, SignedLogEpoch } from '@governance/shared/evidence/evidence-keys';
import { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { Sha256Hex, Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import type { StoredCheckpoint } from '../chain/signed-place-rows.ts';
import { listOf, pageQuery, queryInt } from '../platform/http/schemas.ts';

export const TrustAnchorView = TrustAnchor;

export const CheckpointQuery = z.object({
  size: queryInt({ min: 1 }).optional(),
  ...pageQuery({ default: 1, max: 1000 }),
});

const CheckpointView = z.object({
  log_epoch: z.int(),
  size: z.int(),
  root: Sha256Hex,
  note: z.string().meta({ description: 'C2SP tlog-checkpoint.' }),
  made_at: Timestamp,
});
export const CheckpointList = listOf('checkpoints', CheckpointView);

export const LogEpochQuery = z.object(pageQuery({ default: 50, max: MAX_LOG_EPOCHS }));
export const LogEpochList = listOf('log_epochs', SignedLogEpoch);

export const ProofQuery = z
  .object({ from: queryInt({ min: 1 }), to: queryInt({ min: 1 }) })
  .refine(({ from, to }) => from <= to, { path: ['from'], message: 'must not be larger than to' });

export const ProofView = z.object({
  from: z.int(),
  to: z.int(),
  path: z.array(Sha256Hex).meta({ description: 'RFC 6962, section 2.1.2.' }),
});

export function toCheckpointView(given: StoredCheckpoint): z.infer<typeof CheckpointView> {
  const { epoch, size, root, note, madeAt } = given;
  return { log_epoch: epoch, size, root, note, made_at: madeAt.toISOString() };
}
