/**
 * Compares a stream's records with the batches that its writer signed: each batch must cover
 * exactly these records and be signed with one of the keys. Used by `verifyStream`, in one pass.
 */
import type { KeyObject } from 'node:crypto';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { BatchHeader, isBatchSignedBy } from '@governance/shared/ledger/audit-batch';
import type { ChainPosition } from '@governance/shared/ledger/hash-chain';
import { GENESIS_HASH } from '@governance/shared/ledger/hash-chain';
import { merkleRoot } from '@governance/shared/ledger/merkle';
import { z } from 'zod';

/** A stored batch: its header's canonical text, which was signed, and the signature. */
export interface KeptBatch {
  header: BatchHeader;
  signature: string;
}

export interface BatchBreak {
  kind: 'batch' | 'signature';
  epoch: number;
  seq: number;
  expected: string;
  actual: string;
}

export interface BatchWalk {
  /** A record of the stream, and the position before it. */
  add(at: ChainPosition, before: ChainPosition | null): BatchBreak[];
  /** The position after its last record. */
  end(stream: { tenant_id: string | null; stream: string | null }): BatchBreak[];
  /** The number of records in no batch, and the first of them. */
  uncovered(): { records: number; first: { epoch: number; seq: number } | null };
}

const Line = z.strictObject({
  header: z.union([z.string(), BatchHeader]),
  signature: z.string(),
});

/**
 * Reads one batch: `{"header": …, "signature": …}`, the header as text or as an object.
 *
 * @throws when it is not a batch, or its header's text is not canonical
 */
export function parseBatch(text: string): KeptBatch {
  const { header, signature } = Line.parse(JSON.parse(text));
  if (typeof header !== 'string') return { header, signature };
  const parsed = BatchHeader.parse(JSON.parse(header));
  if (canonicalize(parsed) !== header) throw new Error('the header is not in canonical form');
  return { header: parsed, signature };
}

/**
 * Prepares a walk.
 *
 * @param batches in any order; they may overlap
 * @param keys of the writer; null: signatures are not checked
 */
export function createBatchWalk(
  batches: readonly KeptBatch[],
  keys: readonly KeyObject[] | null,
): BatchWalk {
  const waiting = new Map<string, KeptBatch[]>();
  for (const batch of batches) {
    const { epoch, first_seq } = batch.header;
    const at = `${epoch}/${first_seq}`;
    waiting.set(at, [...(waiting.get(at) ?? []), batch]);
  }
  let open: { batch: KeptBatch; hashes: string[]; before: string }[] = [];
  let records = 0;
  let first: { epoch: number; seq: number } | null = null;

  function check({ batch, hashes, before }: (typeof open)[number]): BatchBreak[] {
    const { header } = batch;
    const found: BatchBreak[] = [];
    const actual = { prev_head: before, head: hashes.at(-1), event_root: merkleRoot(hashes) };
    for (const name of ['prev_head', 'head', 'event_root'] as const) {
      if (header[name] === actual[name]) continue;
      found.push(breakOf(header, 'batch', `${name} ${header[name]}`, String(actual[name])));
    }
    return found;
  }

  return {
    add: ({ epoch, seq, head }, before) => {
      const at = `${epoch}/${seq}`;
      for (const batch of waiting.get(at) ?? []) {
        open.push({ batch, hashes: [], before: before?.head ?? GENESIS_HASH });
      }
      waiting.delete(at);
      const found: BatchBreak[] = [];
      let isCovered = false;
      open = open.filter((walked) => {
        const { header } = walked.batch;
        // Its records end before it does.
        if (header.epoch !== epoch) {
          found.push(...unfinished(header));
          return false;
        }
        isCovered = true;
        walked.hashes.push(head);
        if (header.last_seq > seq) return true;
        found.push(...check(walked));
        return false;
      });
      if (!isCovered) {
        records++;
        first ??= { epoch, seq };
      }
      return found;
    },
    end: (stream) => {
      const left = [...open.map(({ batch }) => batch), ...[...waiting.values()].flat()];
      const found = left.flatMap(({ header }) => unfinished(header));
      for (const { header, signature } of batches) {
        if (header.tenant_id !== stream.tenant_id || header.stream !== stream.stream) {
          const expected = `${stream.tenant_id}/${stream.stream}`;
          found.push(breakOf(header, 'batch', expected, `${header.tenant_id}/${header.stream}`));
        }
        if (keys && !keys.some((key) => isBatchSignedBy(key, header, signature))) {
          found.push(breakOf(header, 'signature', 'signed with one of the keys', 'is not'));
        }
      }
      return found;
    },
    uncovered: () => ({ records, first }),
  };
}

function unfinished(header: BatchHeader): BatchBreak[] {
  const { epoch, first_seq, last_seq } = header;
  const expected = `the records ${first_seq} to ${last_seq} of epoch ${epoch}, which were signed`;
  return [breakOf(header, 'batch', expected, 'not all are there')];
}

function breakOf(
  { epoch, first_seq: seq }: BatchHeader,
  kind: BatchBreak['kind'],
  expected: string,
  actual: string,
): BatchBreak {
  return { kind, epoch, seq, expected, actual };
}
