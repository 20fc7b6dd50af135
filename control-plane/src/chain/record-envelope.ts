/**
 * The fields of a record that chaining needs, readable even when the rest is not: a record of a
 * newer or faulty writer still says where it belongs.
 */
import { Epoch, Id, Sha256Hex } from '@governance/shared/text';
import { z } from 'zod';

const Previous = z.object({
  epoch: Epoch,
  last_seq: z.int().positive(),
  head: Sha256Hex,
});

const RecordEnvelope = z.object({
  tenant_id: Id,
  stream: Id,
  epoch: Epoch,
  seq: z.int().positive(),
  prev_hash: Sha256Hex,
  type: z.string(),
  /** Only an epoch_start has it; undefined where it cannot be read. */
  previous: Previous.nullable().optional().catch(undefined),
});
export type RecordEnvelope = z.infer<typeof RecordEnvelope>;

/** @returns undefined when the bytes do not say where the record belongs */
export function readEnvelope(bytes: Uint8Array): RecordEnvelope | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return RecordEnvelope.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
