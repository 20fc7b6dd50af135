import type { ControlPlaneLink } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import type { BatchReceipt, SignedBatch } from '@governance/shared/ledger/audit-batch';
import type { DurableLedger } from '../../ledger/ledger.ts';
import type { ShippingStatus } from './shipping-status.ts';

/**
 * Ships one batch, and moves the shipped position behind it once the control plane has stored it.
 *
 * @throws where it was not stored, or that is not known
 */
export async function shipBatch(
  batch: SignedBatch,
  to: {
    tenantId: string;
    link: Pick<ControlPlaneLink, 'shipBatch'>;
    ledger: Pick<DurableLedger, 'markShipped'>;
  },
  status: ShippingStatus,
): Promise<void> {
  status.attempted();
  const receipt = await to.link.shipBatch(batch);
  assertReceived(batch, receipt);
  const { epoch, last_seq: seq, head } = batch.header;
  await to.ledger.markShipped(to.tenantId, { epoch, seq, head });
  status.lastShipped = { epoch, seq };
  status.acknowledged = { epoch, seq, head };
}

/** A receipt for another batch must not move the shipped position. */
function assertReceived({ header }: SignedBatch, receipt: BatchReceipt): void {
  if (
    receipt.stream !== header.stream ||
    receipt.epoch !== header.epoch ||
    receipt.last_seq !== header.last_seq ||
    receipt.head !== header.head
  ) {
    throw new AppError('UNAVAILABLE', 'the receipt is not that of the batch');
  }
}
