/** The log: it contains the batches, and the checkpoint is signed. */
import { isCheckpointSignedBy } from '../checkpoint.ts';
import { checkpointMember, EVIDENCE_MEMBERS } from '../evidence-package.ts';
import { createMerkleTree, type MerkleTree, rootOfInclusion } from '../merkle-proofs.ts';
import type { Check, Tally } from './check.ts';
import { findCheckpointFault } from './checkpoint-fault.ts';
import type { Evidence } from './evidence.ts';
import { lineOf } from './location.ts';

const { batches, proofs: proofsMember, manifest: manifestMember } = EVIDENCE_MEMBERS;

/** `log.inclusion`: every batch is a leaf of the checkpoint's tree. */
export function checkInclusion(tally: Tally, evidence: Evidence): Check {
  let tree: MerkleTree | undefined;
  let paths = new Map<number, readonly string[]>();
  let size = 0;
  let root: string | undefined;
  return {
    documents: () => {
      const { manifest, proofs, checkpoints } = evidence;
      size = manifest.log.end;
      root = checkpoints.get(size)?.checkpoint.root;
      if (root === undefined)
        tally.fail('the checkpoint is missing', { member: checkpointMember(size) });
      paths = new Map(proofs.leaves.map(({ leaf_index, path }) => [leaf_index, path]));
      if (manifest.scope.kind === 'selective') return;
      try {
        if (!proofs.range) throw new RangeError('there is none');
        tree = createMerkleTree(proofs.range.start, proofs.range.frontier);
      } catch {
        tally.fail('the range has no frontier', { member: proofsMember, path: 'range' });
      }
    },
    batch: ({ line, leafIndex, leafHash, isInRange }) => {
      if (isInRange) {
        // A gap gives another root.
        tree?.add(leafHash);
        tally.ok();
        return;
      }
      const path = paths.get(leafIndex);
      const found = path && rootOfInclusion({ leaf: leafHash, index: leafIndex, size, path });
      if (found !== undefined && found === root) tally.ok();
      else tally.fail('the batch is not shown to be in the log', lineOf(batches, line));
    },
    batchesEnd: () => {
      if (!tree) return;
      if (tree.size === size && tree.root() === root) tally.ok();
      else tally.fail('the batches do not give the root of the checkpoint', { member: batches });
    },
  };
}

/** `checkpoint.signature`: a checkpoint key signed each checkpoint. */
export function checkCheckpoints(tally: Tally, evidence: Evidence): Check {
  return {
    documents: () => {
      const { checkpoints, keyset, manifest } = evidence;
      if (!checkpoints.has(manifest.log.end)) {
        tally.fail('the checkpoint is missing', { member: checkpointMember(manifest.log.end) });
      }
      for (const [size, signed] of checkpoints) {
        const location = { member: checkpointMember(size) };
        const signers = keyset
          .all('checkpoint')
          .filter(({ jwk }) => isCheckpointSignedBy(signed, jwk));
        const key = signers.find(({ isAnchored }) => isAnchored) ?? signers[0];
        const fault = findCheckpointFault(signed, { size, isSigned: () => key !== undefined });
        if (fault || !key) tally.fail(fault?.detail ?? '', location);
        else {
          tally.ok();
          const at = signed.checkpoint.time;
          evidence.use({ key, notBefore: at, signedAt: at, vouchesFor: null, location });
        }
      }
    },
  };
}

/** `proof.binding`: proofs, checkpoint, batches and records refer to the same things. */
export function checkBinding(tally: Tally, evidence: Evidence): Check {
  const proven = new Set<number>();
  const selected: { stream: string; epoch: number; seq: number }[] = [];
  let before = -1;
  let last = { leaf_index: -1, index: -1 };
  return {
    documents: () => {
      const { manifest, proofs, checkpoints } = evidence;
      const { log, scope } = manifest;
      const check = (isGood: boolean, what: string, member: string, path?: string) => {
        if (isGood) tally.ok();
        else tally.fail(what, { member, ...(path !== undefined && { path }) });
      };
      const origin = checkpoints.get(log.end)?.checkpoint.origin;
      check(origin === log.origin, 'the checkpoint is of another log', checkpointMember(log.end));
      check(log.start <= log.end, 'the log ends before it starts', manifestMember, 'log');
      const { range } = proofs;
      const isOfRange =
        scope.kind === 'selective'
          ? range === null
          : range?.start === log.start && range.end === log.end;
      check(isOfRange, 'the range is another than the manifest names', proofsMember, 'range');
      for (const [i, { leaf_index }] of proofs.leaves.entries()) {
        check(!proven.has(leaf_index), 'a leaf is proven twice', proofsMember, `leaves/${i}`);
        proven.add(leaf_index);
      }
      for (const [i, { from, to }] of proofs.consistency.entries()) {
        const isOfTree = to === log.end || from === log.end;
        check(isOfTree, 'a proof is of another tree', proofsMember, `consistency/${i}`);
      }
    },
    batch: ({ line, leafIndex, isInRange }) => {
      const isNext = leafIndex > before && leafIndex < evidence.manifest.log.end;
      before = leafIndex;
      // A batch in the range is proven by the range alone, any other by its own proof.
      const isProvenOnce = proven.delete(leafIndex) !== isInRange;
      if (isNext && isProvenOnce) tally.ok();
      else tally.fail('the batch and its proof do not match', lineOf(batches, line));
    },
    batchesEnd: () => {
      if (proven.size > 0) {
        tally.fail('a proof is of no batch', { member: proofsMember, path: 'leaves' });
      }
    },
    event: ({ line, place, batch, index }) => {
      if (evidence.manifest.scope.kind === 'selective') {
        const { stream = '', epoch = 0, seq = 0 } = place ?? {};
        selected.push({ stream, epoch, seq });
        return;
      }
      if (!place) return;
      const isThere = batch && isAt(place, batch, index);
      if (isThere) tally.ok();
      else tally.fail('the record is not of its batch', lineOf(EVIDENCE_MEMBERS.events, line));
    },
    eventProof: ({ line, value }) => {
      const place = selected[line - 1];
      const batch = evidence.batches.get(value.leaf_index);
      const { leaf_index, index } = last;
      const isNext =
        value.leaf_index > leaf_index || (value.leaf_index === leaf_index && value.index > index);
      last = value;
      if (isNext && place && batch && isAt(place, batch, value.index)) tally.ok();
      else tally.fail('the proof is not of its record', lineOf(EVIDENCE_MEMBERS.eventProofs, line));
    },
    cause: ({ line, place, batch, value }) => {
      if (place && batch && isAt(place, batch, value.index)) tally.ok();
      else tally.fail('the record is not of its batch', lineOf(EVIDENCE_MEMBERS.causes, line));
    },
  };
}

function isAt(
  place: { stream: string; epoch: number; seq: number },
  batch: { stream: string; epoch: number; firstSeq: number },
  index: number,
): boolean {
  return (
    place.stream === batch.stream &&
    place.epoch === batch.epoch &&
    place.seq === batch.firstSeq + index
  );
}
