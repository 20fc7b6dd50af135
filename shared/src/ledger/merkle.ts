import { hash as digest } from 'node:crypto';

/**
 * The Merkle Tree Hash over record hashes (RFC 6962 section 2.1): the leaves are already
 * SHA-256(0x00 || record), see `recordHash`.
 *
 * @param leaves lower-case hexadecimal leaf hashes, in order
 * @returns the root in lower-case hexadecimal; SHA-256 of nothing for no leaves
 */
export function merkleRoot(leaves: readonly string[]): string {
  if (leaves.length === 0) return digest('sha256', '', 'hex');
  // Joining neighbours level by level, an odd last node rising unchanged, gives RFC 6962's tree.
  let level = leaves;
  while (level.length > 1) {
    const next: string[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as string;
      const right = level[i + 1];
      next.push(right === undefined ? left : nodeHash(left, right));
    }
    level = next;
  }
  return level[0] as string;
}

/** 0x01 ‖ left ‖ right, filled anew for each node: ingest computes one for every record. */
const node = Buffer.alloc(65);
node[0] = 0x01;

/**
 * The hash of an inner node (RFC 6962 section 2.1).
 *
 * @param left lower-case hexadecimal SHA-256, as is `right`
 * @throws TypeError when one of them is none
 */
export function nodeHash(left: string, right: string): string {
  // Invalid hexadecimal digits would leave the previous node's bytes there.
  if (node.write(left, 1, 32, 'hex') !== 32 || node.write(right, 33, 32, 'hex') !== 32) {
    throw new TypeError('a leaf is no SHA-256 in hexadecimal');
  }
  return digest('sha256', node, 'hex');
}
