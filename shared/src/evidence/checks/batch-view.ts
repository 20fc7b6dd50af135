import { type BatchLine, batchLeafHash, type EvidenceManifest } from '../evidence-package.ts';
import type { BatchView } from './evidence.ts';
import type { KnownKey } from './keyset.ts';

/** What is kept of a batch while its records are read. */
export function viewBatch(
  line: number,
  batch: BatchLine,
  { scope, log, tenant_id: tenantId }: Pick<EvidenceManifest, 'scope' | 'log' | 'tenant_id'>,
  signer: KnownKey | undefined,
): BatchView {
  const { leaf_index: leafIndex, header } = batch;
  return {
    line,
    leafIndex,
    leafHash: batchLeafHash(batch),
    // Shares one string among all batches of the tenant.
    tenantId: header.tenant_id === tenantId ? tenantId : header.tenant_id,
    stream: header.stream,
    epoch: header.epoch,
    firstSeq: header.first_seq,
    lastSeq: header.last_seq,
    prevHead: header.prev_head,
    head: header.head,
    eventRoot: header.event_root,
    signer,
    isInRange: scope.kind === 'contiguous' && leafIndex >= log.start && leafIndex < log.end,
  };
}
