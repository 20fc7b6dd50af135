/** Checks that a stored batch is the one that a leaf of the log was made from. */

import { batchLeafHash } from '@governance/shared/evidence/evidence-package';
import { EMPTY_ROOT } from '@governance/shared/evidence/merkle-proofs';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { BatchHeader } from '@governance/shared/ledger/audit-batch';
import type { LogFault } from './log-places.ts';
import type { StoredLeaf } from './log-tree-rows.ts';

export interface LeafTrust {
  tenantId: string;
  isWriter(stream: string): boolean;
}

/**
 * Does not verify the signature: the walk over the stream does that with the registered key.
 *
 * @param node the stored hash of the leaf
 * @returns the leaf's hash, and its fault, if any
 */
export function findLeafFault(
  { tenantId, isWriter }: LeafTrust,
  leaf: StoredLeaf | undefined,
  node: string | undefined,
): { hash: string; fault?: LogFault } {
  const none = node ?? EMPTY_ROOT;
  if (!leaf) {
    const detail = 'no batch has the index of the leaf';
    return { hash: none, fault: { expected: none, actual: 'none', detail } };
  }
  const header = readHeader(leaf);
  if (!header) {
    const detail = "the batch's header is missing or not in canonical form";
    const check = 'json.strict';
    return { hash: none, fault: { check, expected: none, actual: 'none', detail } };
  }
  const hash = batchLeafHash({ header, signature: leaf.signature });
  if (hash !== node) {
    const detail = "the batch is not the one in the log's leaf";
    return { hash, fault: { expected: node ?? 'none', actual: hash, detail } };
  }
  const isOfIt =
    header.tenant_id.toLowerCase() === tenantId &&
    header.stream.toLowerCase() === leaf.stream &&
    header.epoch === leaf.epoch &&
    header.first_seq === leaf.firstSeq &&
    header.last_seq === leaf.lastSeq;
  const of = `${leaf.stream} ${leaf.epoch}/${leaf.firstSeq}-${leaf.lastSeq}`;
  if (!isOfIt) {
    const detail = 'the batch is stored at another place than its header says';
    const expected = `${header.stream} ${header.epoch}/${header.first_seq}-${header.last_seq}`;
    return { hash, fault: { check: 'proof.binding', expected, actual: of, detail } };
  }
  if (!isWriter(leaf.stream)) {
    const detail = 'the admin chain registered no writer for the stream';
    return { hash, fault: { check: 'keys.anchored', expected: 'a writer', actual: of, detail } };
  }
  if (header.head !== leaf.lastHash) {
    const detail = 'the last record of the batch is missing or differs';
    const actual = leaf.lastHash ?? 'none';
    return { hash, fault: { check: 'chain.head', expected: header.head, actual, detail } };
  }
  return { hash };
}

function readHeader({ header: text }: StoredLeaf): BatchHeader | undefined {
  try {
    const header = BatchHeader.parse(JSON.parse(text));
    return canonicalize(header) === text ? header : undefined;
  } catch {
    return undefined;
  }
}
