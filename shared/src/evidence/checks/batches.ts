/** Batches: who signed them, and that they cover exactly these records. */
import { EVIDENCE_MEMBERS } from '../evidence-package.ts';
import { rootOfInclusion } from '../merkle-proofs.ts';
import { type BatchRecords, createBatchRecords } from './batch-records.ts';
import type { Check, Tally } from './check.ts';
import { type BatchView, type Evidence, recordsOf } from './evidence.ts';
import { lineOf } from './location.ts';

const { batches, events, eventProofs, causes } = EVIDENCE_MEMBERS;

/** `batch.signature`: the stream's writer, or for the admin chain the control plane, signed it. */
export function checkBatchSignature(tally: Tally): Check {
  return {
    batch: ({ line, signer }) => {
      if (signer) tally.ok();
      else tally.fail('no key of the stream signed the batch', lineOf(batches, line));
    },
  };
}

/** `batch.root`: the records are those whose root was signed. */
export function checkBatchRoot(tally: Tally, evidence: Evidence): Check {
  let open: { batch: BatchView; records: BatchRecords } | undefined;
  const hashes: string[] = [];
  let proofs = 0;

  const prove = (
    batch: BatchView | undefined,
    { hash, index, path }: { hash: string; index: number; path: readonly string[] },
    location: ReturnType<typeof lineOf>,
  ) => {
    const root = batch && rootOfInclusion({ leaf: hash, index, size: recordsOf(batch), path });
    if (batch && root === batch.eventRoot) tally.ok();
    else tally.fail('the proof does not lead to the root of the batch', location);
  };
  const close = () => {
    if (open) tally.fail('a batch has more records', lineOf(batches, open.batch.line));
    open = undefined;
  };

  return {
    event: ({ line, hash, batch, index, place }) => {
      if (evidence.manifest.scope.kind === 'selective') {
        hashes.push(hash);
        return;
      }
      if (!batch) {
        tally.fail('the record is in no batch', lineOf(events, line));
        return;
      }
      if (open?.batch !== batch) {
        close();
        open = { batch, records: createBatchRecords(batch) };
      }
      const behind = open.records.add(hash, place?.prev_hash);
      if (behind !== undefined) tally.fail(behind, lineOf(events, line));
      if (index < recordsOf(batch) - 1) return;
      tally.judge(open.records.findRootFault(), batches, batch.line);
      open = undefined;
    },
    batch: ({ line, isInRange, firstSeq, lastSeq }) => {
      if (isInRange && lastSeq < firstSeq) {
        tally.fail('the batch says that it has no records', lineOf(batches, line));
      }
    },
    eventsEnd: close,
    eventProof: ({ line, value }) => {
      const hash = hashes[line - 1];
      const location = lineOf(eventProofs, line);
      if (hash === undefined) tally.fail('the proof is of no record', location);
      else prove(evidence.batches.get(value.leaf_index), { hash, ...value }, location);
      proofs++;
    },
    cause: ({ line, hash, batch, value }) => prove(batch, { hash, ...value }, lineOf(causes, line)),
    end: () => {
      if (evidence.manifest.scope.kind === 'selective' && proofs < hashes.length) {
        tally.fail('a record has no proof', lineOf(events, proofs + 1));
      }
    },
  };
}
