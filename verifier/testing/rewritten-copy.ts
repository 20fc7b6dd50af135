/**
 * What the holder of a package can do without any key: change what a record says and recompute
 * everything that depends on it (links, heads, roots, leaves, proofs, digests). Only the signatures
 * stay as they were.
 */

import { checkpointBody, parseCheckpoint } from '@governance/shared/evidence/checkpoint';
import { DsseEnvelope, payloadOf } from '@governance/shared/evidence/dsse';
import {
  BatchLine,
  batchLeafHash,
  checkpointMember,
  EVIDENCE_MEMBERS,
  EvidenceManifest,
  EvidenceProofs,
} from '@governance/shared/evidence/evidence-package';
import { createMerkleTree, planConsistency } from '@governance/shared/evidence/merkle-proofs';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { merkleRoot } from '@governance/shared/ledger/merkle';
import { proofOf } from '@governance/shared/testing/test-evidence';
import { z } from 'zod';
import { type Members, packMembers, streamsOf } from './package-builder.ts';
import { digestAgain, unpack } from './resigned-copy.ts';

/** What links a record to those before it. */
const Linked = z.looseObject({
  prev_hash: z.string(),
  previous: z.looseObject({ head: z.string() }).nullish(),
});

/** @returns the record's new text, or undefined to keep it */
export type Change = (record: string) => string | undefined;

/**
 * A copy of a contiguous package that begins with the log's first leaf, in which a record says
 * something else.
 *
 * @param archive evidence.tar.gz
 * @param change called with each record's text
 * @throws Error when it is not such a package, or when nothing was changed
 */
export async function rewriteCopy(archive: Uint8Array, change: Change): Promise<Buffer> {
  const members = await unpack(archive);
  const read = (name: string) => String(members.get(name));
  const linesOf = (name: string) => read(name).split('\n').slice(0, -1);
  const write = (name: string, text: string) => void members.set(name, Buffer.from(text));

  const envelope = DsseEnvelope.parse(JSON.parse(read(EVIDENCE_MEMBERS.manifest)));
  const manifest = EvidenceManifest.parse(JSON.parse(payloadOf(envelope).toString('utf8')));
  const proofs = EvidenceProofs.parse(JSON.parse(read(EVIDENCE_MEMBERS.proofs)));
  const { start, end } = manifest.log;
  if (proofs.range === null || start !== 0) throw new Error('the package has no whole log');

  const records = linesOf(EVIDENCE_MEMBERS.events);
  const { texts, newHashes } = rewriteRecords(records, change);
  if (newHashes.size === 0) throw new Error('no record was changed');
  const hashes = texts.map((text) => recordHash(Buffer.from(text)));
  const batches = linesOf(EVIDENCE_MEMBERS.batches).map((line) =>
    BatchLine.parse(JSON.parse(line)),
  );
  let at = 0;
  for (const { header } of batches) {
    const next = at + header.last_seq - header.first_seq + 1;
    header.prev_head = newHashes.get(header.prev_head) ?? header.prev_head;
    header.head = newHashes.get(header.head) ?? header.head;
    header.event_root = merkleRoot(hashes.slice(at, next));
    at = next;
  }

  const leaves = batches.map(batchLeafHash);
  const tree = createMerkleTree();
  for (const leaf of leaves) tree.add(leaf);
  for (const proof of proofs.consistency) {
    const { from, to } = proof;
    // A proof to a larger log needs leaves that the holder does not have.
    if (to === end) proof.path = proofOf(planConsistency(from, to), leaves);
  }
  const name = checkpointMember(end);
  const { checkpoint, body } = parseCheckpoint(read(name));
  write(name, checkpointBody({ ...checkpoint, root: tree.root() }) + read(name).slice(body.length));
  write(EVIDENCE_MEMBERS.proofs, canonicalize(proofs));
  write(EVIDENCE_MEMBERS.batches, batches.map((line) => `${canonicalize(line)}\n`).join(''));
  write(EVIDENCE_MEMBERS.events, texts.map((text) => `${text}\n`).join(''));

  manifest.streams = streamsOf(texts.map((text) => Buffer.from(text)));
  manifest.files = digestAgain(manifest.files, members);
  const payload = Buffer.from(canonicalize(manifest)).toString('base64');
  write(EVIDENCE_MEMBERS.manifest, canonicalize({ ...envelope, payload }));
  return packMembers([...members] satisfies Members);
}

/** A record that names a changed one changes with it, and so on to the end of its stream. */
function rewriteRecords(records: readonly string[], change: Change) {
  const newHashes = new Map<string, string>();
  const texts = records.map((text) => {
    const record = Linked.parse(JSON.parse(change(text) ?? text));
    record.prev_hash = newHashes.get(record.prev_hash) ?? record.prev_hash;
    const { previous } = record;
    if (previous) previous.head = newHashes.get(previous.head) ?? previous.head;
    const rewritten = canonicalize(record);
    if (rewritten !== text) {
      newHashes.set(recordHash(Buffer.from(text)), recordHash(Buffer.from(rewritten)));
    }
    return rewritten;
  });
  return { texts, newHashes };
}
